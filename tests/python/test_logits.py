"""The default model's logits against transformers, whose weights the `gguf` package dequantised."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from conftest import PROMPTS

import atb

TOLERANCE = 1e-3  # of the largest logit: the product's promise for fp32 activations
GREEDY_TOKENS = 64


@pytest.fixture(scope="module")
def fp32(model_path):
    return atb.load(model_path, precision="fp32")


@pytest.fixture(scope="module")
def default(model_path):
    return atb.load(model_path)


@pytest.fixture(scope="module")
def reference(torch_smollm2):
    def logits(ids: list[int]) -> np.ndarray:
        with torch.inference_mode():
            return torch_smollm2(torch.tensor([ids])).logits[0].float().numpy()

    return logits


@pytest.fixture(scope="module")
def prompts(default):
    ids = [default.tokenizer.encode(text) for text in PROMPTS]
    lengths = [len(i) for i in ids]
    assert all(20 <= n <= 400 for n in lengths), lengths
    return ids


def test_fp32_logits_equal_transformers(fp32, reference, prompts):
    for ids in prompts:
        ours, theirs = fp32.logits(ids), reference(ids)
        scale = np.abs(theirs).max()
        error = np.abs(ours - theirs).max() / scale
        top2 = np.partition(theirs, -2, axis=1)[:, -2:]
        clear = top2[:, 1] - top2[:, 0] > 2 * TOLERANCE * scale
        assert clear.mean() > 0.5, "the reference decides too few positions to test anything"
        same = ours.argmax(axis=1) == theirs.argmax(axis=1)
        print(
            f"fp32, {len(ids)} tokens: max error {error:.1e} of the largest logit, {clear.mean():.0%} clear positions"
        )
        assert error <= TOLERANCE
        assert same[clear].all()


def test_fp32_greedy_tokens_equal_transformers(fp32, reference, prompts):
    """64 greedy tokens are the reference's wherever its two best logits differ by more than twice the tolerance."""
    for ids in prompts:
        ours = fp32.generate(ids, max_tokens=GREEDY_TOKENS, ignore_eos=True).tokens
        assert len(ours) == GREEDY_TOKENS
        theirs = reference(ids + ours)[len(ids) - 1 : -1]
        top2 = np.partition(theirs, -2, axis=1)[:, -2:]
        clear = top2[:, 1] - top2[:, 0] > 2 * TOLERANCE * np.abs(theirs).max()
        best = theirs.argmax(axis=1)
        wrong = [i for i in range(GREEDY_TOKENS) if clear[i] and ours[i] != best[i]]
        assert clear.mean() > 0.5
        assert not wrong, f"greedy tokens differ at {wrong}"


def test_default_path_is_close_to_fp32(default, fp32, prompts):
    """The accuracy that the default precision promises: cosine >= 0.999, top-1 agreement >= 97 %."""
    cosines, agree, total = [], 0, 0
    for ids in prompts:
        a, b = default.logits(ids).astype(np.float64), fp32.logits(ids).astype(np.float64)
        cosines.append(float((a * b).sum() / np.sqrt((a * a).sum() * (b * b).sum())))
        agree += int((a.argmax(axis=1) == b.argmax(axis=1)).sum())
        total += len(ids)
    precision = default.description.precision
    print(f"default ({precision}): cosine {min(cosines):.6f}, top-1 agreement {agree}/{total} = {agree / total:.2%}")
    assert min(cosines) >= 0.999
    assert agree / total >= 0.97


def test_logits_do_not_depend_on_the_prefill_block(model_path, prompts):
    ids = prompts[3][:70]
    reference = None
    for block in (1, 3, 16, 64, 70):
        model = atb.load(model_path, precision="fp32", prefill_block=block)
        logits = model.logits(ids)
        tokens = model.generate(ids, max_tokens=8, ignore_eos=True).tokens
        if reference is None:
            reference = logits, tokens
        assert np.abs(logits - reference[0]).max() <= 1e-4
        assert (logits.argmax(axis=1) == reference[0].argmax(axis=1)).all()
        assert tokens == reference[1]


def test_an_edited_graph_changes_the_logits(model_path, default, prompts):
    ids = prompts[0]
    text = default.graph
    assert "kind = silu" in text
    edited = atb.load(model_path, graph=text.replace("kind = silu", "kind = relu"))
    assert np.abs(edited.logits(ids) - default.logits(ids)).max() > 1e-2
    same = atb.load(model_path, graph=text)
    assert np.array_equal(same.logits(ids), default.logits(ids))


def test_results_are_identical_from_run_to_run_and_over_threads(model_path, default, prompts):
    ids = prompts[1]
    first = default.logits(ids)
    assert np.array_equal(first, default.logits(ids))
    for threads in (1, 2, 3):
        assert np.array_equal(first, atb.load(model_path, threads=threads).logits(ids))
