"""The Python API: errors, types, streaming, threads, fork, pickling."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import atb


@pytest.fixture(scope="module")
def model(model_path):
    return atb.load(model_path)


PROMPT = "The capital of France is"


def test_generate_and_stream_agree(model):
    whole = model.generate(PROMPT, max_tokens=24)
    assert "".join(model.stream(PROMPT, max_tokens=24)) == whole.text
    assert whole.finish_reason in ("eos", "length")
    assert whole.prompt_tokens == len(model.tokenizer.encode(PROMPT))
    assert whole.text == model.tokenizer.decode(whole.tokens)


def test_ids_and_text_are_the_same_prompt(model):
    ids = model.tokenizer.encode(PROMPT)
    expected = model.generate(PROMPT, max_tokens=8).tokens
    assert model.generate(ids, max_tokens=8).tokens == expected
    assert model.generate(np.array(ids, dtype=np.int64), max_tokens=8).tokens == expected
    assert model.generate(np.array(ids + ids)[: len(ids)], max_tokens=8).tokens == expected


@pytest.mark.parametrize("bad", [3.5, [1.5], [[1, 2]], ["a"], [True], b"ab", None])
def test_prompts_of_a_wrong_type(model, bad):
    with pytest.raises(TypeError):
        model.generate(bad, max_tokens=1)


@pytest.mark.parametrize("bad", [[-1], [10**6], [2**40]])
def test_tokens_out_of_range(model, bad):
    with pytest.raises((atb.Error, ValueError)):
        model.logits(bad)


def test_closing_a_stream_ends_the_generation(model):
    stream = model.stream(PROMPT, max_tokens=2000, ignore_eos=True)
    next(stream)
    start = time.monotonic()
    stream.close()
    assert time.monotonic() - start < 2


def test_an_exception_in_the_callback_is_raised(model):
    def stop(_: str) -> None:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        model.generate(PROMPT, max_tokens=50, on_text=stop)
    assert model.generate(PROMPT, max_tokens=4).tokens


def test_stop_strings_are_not_part_of_the_text(model):
    whole = model.generate(PROMPT, max_tokens=24).text
    word = whole.split()[2]
    cut = model.generate(PROMPT, max_tokens=24, stop=word)
    assert cut.finish_reason == "stop"
    assert cut.text == whole[: whole.index(word)]
    assert "".join(model.stream(PROMPT, max_tokens=24, stop=[word])) == cut.text


def test_sampling_is_reproducible(model):
    def run(seed: int) -> list[int]:
        return model.generate(PROMPT, max_tokens=12, temperature=1.2, top_k=50, top_p=0.95, seed=seed).tokens

    assert run(1) == run(1)
    assert run(1) != run(2)


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"temperature": -1.0}, "temperature"),
        ({"top_p": 1.5}, "top_p"),
        ({"min_p": -0.1}, "min_p"),
        ({"top_k": -3}, "top_k"),
        ({"repeat_penalty": 0.0}, "repeat_penalty"),
        ({"max_tokens": -5}, "max_tokens"),
        ({"temperature": float("nan")}, "temperature"),
    ],
)
def test_sampling_options_out_of_range(model, options, word):
    with pytest.raises(atb.Error) as error:
        model.generate(PROMPT, **options)
    assert error.value.code == "usage"
    assert word in str(error.value)


def test_a_prompt_longer_than_the_context(model_path):
    model = atb.load(model_path, context=32)
    with pytest.raises(atb.Error) as error:
        model.generate(list(range(100, 140)), max_tokens=1)
    assert error.value.code == "resources"
    assert "40" in str(error.value) and "32" in str(error.value)
    full = model.generate(list(range(100, 130)), max_tokens=10, ignore_eos=True)
    assert full.finish_reason == "context"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"precision": "fp8"}, ["precision", "fp8", "fp32"]),
        ({"threads": 0}, ["threads", "0"]),
        ({"kv_type": "q4_0"}, ["kv", "q4_0", "f16"]),
        ({"max_isa": "sse9"}, ["sse9", "portable"]),
        ({"context": -1}, ["context", "-1"]),
        ({"graph": "nonsense"}, ["graph"]),
    ],
)
def test_load_options_that_are_wrong(model_path, options, words):
    with pytest.raises(atb.Error) as error:
        atb.load(model_path, **options)
    for word in words:
        assert word in str(error.value)
    assert "\n" not in str(error.value)


def test_files_that_are_wrong(tmp_path):
    with pytest.raises(atb.Error) as error:
        atb.load(tmp_path / "absent.gguf")
    assert error.value.code == "file"
    assert "absent.gguf" in str(error.value)
    other = tmp_path / "text.gguf"
    other.write_text("hello, this is no model at all")
    with pytest.raises(atb.Error) as error:
        atb.load(other)
    assert error.value.code == "file"


def test_models_are_not_pickled_or_copied(model):
    for act in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="load it again"):
            act(model)


def test_the_gil_is_free_while_computing(model):
    """A counter in another thread keeps at least half of its speed (two processors or more)."""
    counts = [0]
    stop = threading.Event()

    def count() -> None:
        while not stop.is_set():
            counts[0] += 1

    def speed(during) -> float:
        counts[0] = 0
        stop.clear()
        thread = threading.Thread(target=count)
        start = time.perf_counter()
        thread.start()
        during()
        stop.set()
        thread.join()
        return counts[0] / (time.perf_counter() - start)

    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("needs two processors")
    one = atb.load(model.description.path, threads=1)
    # The yardstick is a process that computes beside the counter, so that a loaded machine slows both alike.
    spin = "import time; end = time.monotonic() + 1\nwhile time.monotonic() < end: pass"

    def ratio() -> float:
        beside = speed(lambda: subprocess.run([sys.executable, "-c", spin], check=True))
        return speed(lambda: one.generate(PROMPT, max_tokens=40, ignore_eos=True)) / beside

    assert max(ratio() for _ in range(3)) >= 0.5


def test_eight_threads_on_one_model(model):
    expected = model.generate(PROMPT, max_tokens=4).tokens
    results: list[list[int]] = []
    threads = [
        threading.Thread(target=lambda: results.append(model.generate(PROMPT, max_tokens=4).tokens)) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [expected] * 8


def test_a_forked_child_computes(model_path):
    code = f"""
import os, sys, atb
model = atb.load({str(model_path)!r})
expected = model.generate({PROMPT!r}, max_tokens=8).tokens
child = os.fork()
if child == 0:
    os._exit(0 if model.generate({PROMPT!r}, max_tokens=8).tokens == expected else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    done = subprocess.run([sys.executable, "-c", code], timeout=60)
    assert done.returncode == 0


def test_import_is_fast_and_brings_no_torch():
    code = """
import sys, time
import numpy
start = time.perf_counter()
import atb
took = time.perf_counter() - start
assert "torch" not in sys.modules and "jinja2" not in sys.modules
print(took)
"""
    times = []
    for _ in range(3):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        times.append(float(done.stdout))
    assert min(times) < 0.1


def test_quiet_by_default(model_path):
    code = f"import atb; atb.load({str(model_path)!r}).generate('Hello', max_tokens=2)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stdout == b"" and done.stderr == b""


def test_a_session_goes_on_where_it_was(model):
    ids = model.tokenizer.encode(PROMPT)
    every = model.logits(ids)
    session = model.session()
    first = session.feed(ids)
    assert first.dtype == np.float32 and first.shape == (model.tokenizer.vocab_size,)
    assert np.allclose(first, every[-1], atol=1e-4 * np.abs(every).max())
    assert len(session) == session.length == len(ids)
    session.truncate(len(ids) - 1)
    assert np.allclose(session.feed(np.array(ids[-1:])), first, atol=1e-4 * np.abs(first).max())
    again = session.generate(ids, max_tokens=8)
    assert again.cached_tokens == len(ids) - 1
    assert again.tokens == model.generate(ids, max_tokens=8).tokens
    session.reset()
    assert session.length == 0
    assert "".join(session.stream(PROMPT, max_tokens=8)) == again.text


def test_a_session_outlives_its_model_object(model_path):
    session = atb.load(model_path).session()
    assert session.feed([1, 2, 3]).size > 0


@pytest.mark.parametrize(("tokens", "code"), [([], "usage"), ([-1], "usage"), ([1] * 17, "resources")])
def test_a_session_checks_what_it_is_fed(model_path, tokens, code):
    session = atb.load(model_path, context=16).session()
    with pytest.raises(atb.Error) as error:
        session.feed(tokens)
    assert error.value.code == code
    assert session.length == 0


def test_a_session_does_one_thing_at_a_time(model):
    session = model.session()
    with pytest.raises(RuntimeError, match="this session is computing"):
        session.generate(PROMPT, max_tokens=4, on_text=lambda _: session.reset())
    session.reset()
