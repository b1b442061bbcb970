"""Hugging Face folders of every weight dtype: precision fp32 gives transformers' fp32 logits."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

import atb

LLAMA3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 16,
}
TOKENS = list(range(3, 43))


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("rope", [{"rope_type": "default"}, LLAMA3], ids=["default", "llama3"])
def test_fp32_logits_equal_transformers(tmp_path, dtype, bias, rope):
    """Nothing is rounded on the way: neither the norms' results nor the biases."""
    torch.manual_seed(1)
    config = LlamaConfig(
        vocab_size=301,
        hidden_size=64,
        intermediate_size=96,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=64,
        attention_bias=bias,
        mlp_bias=bias,
        initializer_range=0.2,
        rope_parameters={"rope_theta": 1e4, **rope},
    )
    model = LlamaForCausalLM(config).to(getattr(torch, dtype))
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            torch.nn.init.normal_(parameter, std=0.2)
    model.save_pretrained(tmp_path, max_shard_size="60KB")
    # Loaded anew: .to(dtype) above has rounded the model's rotary frequencies too.
    reference = LlamaForCausalLM.from_pretrained(tmp_path, dtype=torch.float32).eval()
    with torch.inference_mode():
        theirs = reference(torch.tensor([TOKENS])).logits[0].numpy()
    ours = atb.load(tmp_path, precision="fp32").logits(TOKENS)
    assert np.abs(ours - theirs).max() <= 1e-3 * np.abs(theirs).max()
