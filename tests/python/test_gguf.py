"""The GGUF reader against the `gguf` package: every tensor type and every kind of metadata."""

import gguf
import io_dump
import numpy as np
import pytest
from gguf import GGMLQuantizationType as Type
from gguf import GGUFValueType as Kind

BLOCK_TYPES = [Type.Q4_0, Type.Q4_1, Type.Q5_0, Type.Q5_1, Type.Q8_0, Type.Q4_K, Type.Q5_K, Type.Q6_K]
QUANTIZABLE = [Type.F16, Type.BF16, Type.Q4_0, Type.Q4_1, Type.Q5_0, Type.Q5_1, Type.Q8_0]
ROWS, COLUMNS = 7, 768


def write(path, tensors=(), add_metadata=None):
    """A GGUF file of (name, raw bytes or plain array, type or None) written by the package."""
    writer = gguf.GGUFWriter(path, "test")
    if add_metadata is not None:
        add_metadata(writer)
    for name, array, qtype in tensors:
        writer.add_tensor(name, array, raw_dtype=qtype)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def assert_same_values(path, name, expected):
    """Bit for bit: in every format the products are exact in fp32, so that both sides round only the last addition."""
    np.testing.assert_array_equal(io_dump.values(path, name), expected.astype(np.float32).ravel())


@pytest.mark.parametrize("qtype", QUANTIZABLE, ids=lambda t: t.name)
def test_quantized_random_data(tmp_path, qtype):
    data = np.random.default_rng(qtype).standard_normal((ROWS, COLUMNS), dtype=np.float32)
    raw = gguf.quants.quantize(data, qtype)
    path = write(tmp_path / "m.gguf", [("t", raw, qtype)])
    assert io_dump.tensors(path)["t"] == {"dtype": qtype.name.lower(), "shape": [ROWS, COLUMNS], "bytes": raw.nbytes}
    assert_same_values(path, "t", gguf.quants.dequantize(raw, qtype))


@pytest.mark.parametrize("qtype", BLOCK_TYPES, ids=lambda t: t.name)
def test_random_bytes_in_every_field_of_a_block(tmp_path, qtype):
    """Also scales that are infinite, NaN or subnormal."""
    _, block_bytes = gguf.GGML_QUANT_SIZES[qtype]
    raw = np.random.default_rng(qtype).integers(0, 256, (1000, block_bytes), dtype=np.uint8)
    path = write(tmp_path / "m.gguf", [("t", raw, qtype)])
    with np.errstate(invalid="ignore"):
        expected = gguf.quants.dequantize(raw, qtype)
    assert np.isnan(expected).any() and np.isfinite(expected).any()
    assert_same_values(path, "t", expected)


@pytest.mark.parametrize("qtype", [Type.F16, Type.BF16], ids=lambda t: t.name)
def test_all_sixteen_bit_floats(tmp_path, qtype):
    raw = np.arange(1 << 16, dtype=np.uint16).view(np.uint8).reshape(256, 512)
    path = write(tmp_path / "m.gguf", [("t", raw, qtype)])
    assert_same_values(path, "t", gguf.quants.dequantize(raw, qtype))


@pytest.mark.parametrize(
    "dtype", [np.float32, np.float64, np.int8, np.int16, np.int32, np.int64], ids=lambda t: t.__name__
)
def test_plain_numbers(tmp_path, dtype):
    random = np.random.default_rng(0)
    data = (random.standard_normal((2, 3, 4, 5)) * 100).astype(dtype)
    path = write(tmp_path / "m.gguf", [("t", data, None)])
    assert io_dump.tensors(path)["t"]["shape"] == [2, 3, 4, 5]
    assert_same_values(path, "t", data)


def random_text(random):
    points = random.integers(0, 0x110000, random.integers(0, 40))
    return "".join(chr(p) for p in points if not 0xD800 <= p < 0xE000)


def random_float32(random):
    return float(np.float32(random.standard_normal() * 10.0 ** random.integers(-30, 30)))


INTEGER_KINDS = {Kind.UINT8: np.uint8, Kind.INT8: np.int8, Kind.UINT16: np.uint16, Kind.INT16: np.int16,
                 Kind.UINT32: np.uint32, Kind.INT32: np.int32, Kind.INT64: np.int64}  # fmt: skip
VALUES = {
    Kind.FLOAT32: random_float32,
    Kind.FLOAT64: lambda random: float(random.standard_normal() * 10.0 ** random.integers(-300, 300)),
    Kind.BOOL: lambda random: bool(random.integers(2)),
    Kind.STRING: random_text,
    Kind.UINT64: lambda random: int(random.integers(1 << 63)),
}


def random_value(kind, random):
    if kind in VALUES:
        return VALUES[kind](random)
    info = np.iinfo(INTEGER_KINDS[kind])
    return int(random.integers(info.min, info.max, endpoint=True, dtype=INTEGER_KINDS[kind]))


@pytest.mark.parametrize("seed", range(5))
def test_random_metadata(tmp_path, seed):
    random = np.random.default_rng(seed)
    kinds = [*INTEGER_KINDS, *VALUES]
    expected = {"general.architecture": "test"}

    def add(writer):
        for i in range(100):
            kind = kinds[i % len(kinds)]
            key = f"{random_text(random)}.{i}"
            if i < 60:
                expected[key] = random_value(kind, random)
                writer.add_key_value(key, expected[key], kind)
            else:
                expected[key] = [random_value(kind, random) for _ in range(random.integers(1, 20))]
                writer.add_key_value(key, expected[key], Kind.ARRAY, sub_type=kind)

    found = io_dump.metadata(write(tmp_path / "m.gguf", add_metadata=add))
    assert {k: v for k, v in found.items() if k in expected} == expected


@pytest.mark.parametrize("alignment", [8, 64, 1024])
def test_alignment(tmp_path, alignment):
    data = np.arange(35, dtype=np.float32)
    tensors = [("a", data[:3], None), ("b", data, None)]
    path = write(tmp_path / "m.gguf", tensors, lambda writer: writer.add_custom_alignment(alignment))
    assert_same_values(path, "b", data)


def test_a_real_model(model_path):
    reader = gguf.GGUFReader(model_path)
    found = io_dump.tensors(model_path)
    assert found.keys() == {t.name for t in reader.tensors}
    for tensor in reader.tensors:
        assert found[tensor.name]["shape"] == tensor.shape.tolist()[::-1]
        if tensor.name.startswith("blk.0."):
            assert_same_values(model_path, tensor.name, gguf.quants.dequantize(tensor.data, tensor.tensor_type))
    metadata = io_dump.metadata(model_path)
    for key, field in reader.fields.items():
        if not key.startswith("GGUF."):  # the reader's own names for the header
            assert metadata[key] == field.contents(), key
