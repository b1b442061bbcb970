"""The safetensors reader against files that the `safetensors` package writes."""

import json

import io_dump
import numpy as np
import pytest
import safetensors.numpy
import safetensors.torch
import torch

PLAIN = {"f64": np.float64, "f32": np.float32, "f16": np.float16, "i64": np.int64, "i32": np.int32, "i16": np.int16,
         "i8": np.int8, "u8": np.uint8, "bool": np.bool_}  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    return tmp_path


def random_arrays(seed):
    random = np.random.default_rng(seed)
    return {name: (random.standard_normal((seed + 2, 5)) * 50).astype(dtype) for name, dtype in PLAIN.items()}


def assert_same(folder, arrays):
    found = io_dump.tensors(folder)
    assert found.keys() == arrays.keys()
    for name, array in arrays.items():
        assert found[name]["shape"] == list(array.shape)
        np.testing.assert_array_equal(io_dump.values(folder, name), array.astype(np.float32).ravel())


@pytest.mark.parametrize("seed", range(4))
def test_every_dtype(folder, seed):
    arrays = random_arrays(seed)
    safetensors.numpy.save_file(arrays, folder / "model.safetensors", metadata={"format": "np"})
    assert_same(folder, arrays)
    assert {name: t["dtype"] for name, t in io_dump.tensors(folder).items()} == {name: name for name in PLAIN}


def test_scalars_and_empty_tensors(folder):
    arrays = {"scalar": np.array(3.5, np.float32), "empty": np.zeros((0, 4), np.float32), "last": np.ones(1, np.int8)}
    safetensors.numpy.save_file(arrays, folder / "model.safetensors")
    assert_same(folder, arrays)


def test_bfloat16(folder):
    tensor = torch.arange(1 << 16).to(torch.uint16).view(torch.bfloat16).reshape(256, 256)
    safetensors.torch.save_file({"t": tensor}, folder / "model.safetensors")
    assert io_dump.tensors(folder)["t"] == {"dtype": "bf16", "shape": [256, 256], "bytes": 1 << 17}
    np.testing.assert_array_equal(io_dump.values(folder, "t"), tensor.float().numpy().ravel())


def test_shards(folder):
    arrays = random_arrays(0)
    weight_map = {}
    for i, names in enumerate(np.array_split(list(arrays), 3)):
        shard = f"model-{i + 1:05}-of-00003.safetensors"
        safetensors.numpy.save_file({name: arrays[name] for name in names}, folder / shard)
        weight_map |= {str(name): shard for name in names}
    index = {"metadata": {"total_size": 0}, "weight_map": weight_map}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    assert_same(folder, arrays)


def test_config_is_flattened(folder):
    safetensors.numpy.save_file(random_arrays(0), folder / "model.safetensors")
    config = {"hidden_size": 64, "eps": 1e-6, "rope_scaling": {"factor": 2.0, "type": "ünï"}, "eos": [1, 2], "no": None}
    (folder / "config.json").write_text(json.dumps(config))
    assert io_dump.metadata(folder) == {
        "hidden_size": 64, "eps": 1e-6, "rope_scaling.factor": 2.0, "rope_scaling.type": "ünï", "eos": [1, 2]
    }  # fmt: skip
