"""Small hostile files in a process of their own: one line of error, its exit code, and less than 64 MB of memory."""

import json
import struct
import subprocess
import sys

import io_dump
import pytest
from test_cli import ATB
from tiny_models import byte_gguf

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


# Prints the most memory that the command named by its arguments had, in KiB; small itself, since fork counts too.
MEASURE = """
import resource, subprocess, sys
code = subprocess.call(sys.argv[1:], stdin=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(code)
"""


def assert_command_refuses(path):
    """`atb run`: one line, the exit code of a bad file or model, and less than LIMIT of resident memory."""
    command = [sys.executable, "-S", "-c", MEASURE, ATB, "run", str(path), "-p", "hi"]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode in (3, 4), (result.returncode, result.stderr)
    assert result.stderr.startswith("atb: error: ") and result.stderr.count("\n") == 1
    assert str(path) in result.stderr
    assert int(result.stdout) << 10 < LIMIT


@pytest.mark.parametrize("case", GGUF)
def test_command_on_gguf(tmp_path, case):
    path = tmp_path / "bad.gguf"
    path.write_bytes(GGUF[case].ljust(SIZE, b"\0"))
    assert_command_refuses(path)


@pytest.mark.parametrize("case", CONFIGS)
def test_command_on_json(tmp_path, case):
    (tmp_path / "config.json").write_bytes(CONFIGS[case])
    assert_command_refuses(tmp_path)


@pytest.mark.parametrize("part", [0.001, 0.01, 0.1, 0.5, 0.9, 0.999])
def test_command_on_a_cut_model(tmp_path, part):
    path = byte_gguf(tmp_path / "cut.gguf")
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * part)])
    assert_command_refuses(path)


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
