"""Small hostile files in a process of their own: one line of error, its exit code, and less than 64 MB of memory."""

import json
import struct

import io_dump
import pytest

LIMIT = 64 << 20  # writable memory; the read-only map of the file is at most 64 KiB
SIZE = 60_000
MAX = 2**63 - 1


def string(text, length=None):
    return struct.pack("<Q", len(text) if length is None else length) + text


def header(tensors, pairs):
    return b"GGUF" + struct.pack("<IQQ", 3, tensors, pairs)


def tensor(dims, kind=0, name=b"t"):
    return string(name) + struct.pack(f"<I{len(dims)}qIQ", len(dims), *dims, kind, 0)


def array(element, count, payload=b""):
    return string(b"k") + struct.pack("<IIQ", 9, element, count) + payload


GGUF = {
    "dims (INT64_MAX, 2)": header(1, 0) + tensor([MAX, 2]),
    "dims 2^42 + 1": header(1, 0) + tensor([2**42 + 1] * 4),
    "dims 0": header(1, 0) + tensor([0]),
    "dims negative": header(1, 0) + tensor([-1, 2]),
    "n_dims 5": header(1, 0) + tensor([1] * 5),
    "n_dims 2^32 - 1": header(1, 0) + string(b"t") + struct.pack("<I", 2**32 - 1),
    "n_tensors 2^63": header(2**63, 0),
    "n_kv 2^63": header(0, 2**63),
    "n_tensors as many as fit": header(2300, 0),
    "n_kv as many as fit": header(0, 4200),
    "key length": header(0, 1) + string(b"key", 0xFFFFFFFFFFFF),
    "empty key": header(0, 1) + string(b"") + struct.pack("<II", 4, 1),
    "array length": header(0, 1) + array(4, 2**62),
    "array of strings as long as fits": header(0, 1) + array(8, 7000, struct.pack("<Q", 2**40)),
    "tensors without end": header(1700, 0) + b"".join(tensor([1], name=b"%05d" % i) for i in range(1600)),
    "type 39": header(1, 0) + tensor([32], 39),
    "type 42": header(1, 0) + tensor([32], 42),
    "type 999": header(1, 0) + tensor([32], 999),
}
NESTED = b'{"k":' * 10_000
PREFIX = b"".join(b'{"%s":' % (b"k" * 800) for _ in range(40))
CONFIGS = {
    "nested objects": NESTED,
    "nested arrays": b"[" * SIZE,
    "long prefixes": PREFIX + b"{" + b",".join(b'"%d":0' % i for i in range(2500)) + b"}" + b"}" * 40,
    "many empty arrays": b'{"k":[' + b"[]," * 19_000 + b"[" * 70,
    "many empty objects": b'{"k":[' + b"{}," * 19_000 + b"null",
}


def assert_is_one_error(path):
    result = io_dump.run(path, "tensors", data_limit=LIMIT)
    message = result.stderr.decode()
    assert result.returncode in (3, 4), (result.returncode, message)
    assert message.count("\n") == 1 and str(path) in message and result.stdout == b""


@pytest.mark.parametrize("case", GGUF)
def test_gguf(tmp_path, case):
    path = tmp_path / "bad.gguf"
    path.write_bytes(GGUF[case].ljust(SIZE, b"\0"))
    assert_is_one_error(path)


@pytest.mark.parametrize("case", CONFIGS)
def test_json(tmp_path, case):
    (tmp_path / "config.json").write_bytes(CONFIGS[case])
    assert_is_one_error(tmp_path)


@pytest.mark.parametrize("length", [2**63, 100_000_001, 2**64 - 1, 10_000])
def test_safetensors_header_length(tmp_path, length):
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "model.safetensors").write_bytes(struct.pack("<Q", length) + b"{}")
    assert_is_one_error(tmp_path)


def test_safetensors_shape(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    text = json.dumps({"t": {"dtype": "F32", "shape": [MAX] * 3000, "data_offsets": [0, 8]}}).encode()
    (tmp_path / "model.safetensors").write_bytes(string(text) + bytes(8))
    assert_is_one_error(tmp_path)
