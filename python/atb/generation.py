"""Generating text: what models and sessions have in common."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from atb import _core

if TYPE_CHECKING:
    import numpy as np

    Tokens = Sequence[int] | np.ndarray
    Prompt = str | Tokens
    OnText = Callable[[str], object] | None


class Generator:
    """What can continue a prompt."""

    _core: _core.Model | _core.Session

    def _alone(self) -> AbstractContextManager[None]:
        """What surrounds a call into the core: nothing where calls may come together."""
        return nullcontext()

    def generate(
        self,
        prompt: Prompt,
        *,
        max_tokens: int = 128,
        temperature: float = 0.0,
        top_k: int = 0,
        top_p: float = 1.0,
        min_p: float = 0.0,
        repeat_penalty: float = 1.0,
        repeat_last_n: int = 64,
        seed: int = 0,
        stop: str | Sequence[str] = (),
        ignore_eos: bool = False,
        parse_special: bool = False,
        on_text: OnText = None,
    ) -> _core.Generation:
        """Continue a prompt (text, or token ids). Greedy unless temperature > 0.

        on_text is called with each piece of text as it is final; returning False ends the generation.
        Raises atb.Error: "resources" if the prompt is longer than the context, "usage" for options out of range.
        """
        options = _core.GenerateOptions()
        options.max_tokens = max_tokens
        options.stop = [stop] if isinstance(stop, str) else list(stop)
        options.ignore_eos = ignore_eos
        options.parse_special = parse_special
        sampling = _core.SamplingOptions()
        sampling.temperature = temperature
        sampling.top_k = top_k
        sampling.top_p = top_p
        sampling.min_p = min_p
        sampling.repeat_penalty = repeat_penalty
        sampling.repeat_last_n = repeat_last_n
        sampling.seed = seed
        options.sampling = sampling
        with self._alone():
            if isinstance(prompt, str):
                return self._core.generate_text(prompt, options, on_text)
            return self._core.generate_tokens(token_list(prompt), options, on_text)

    def stream(self, prompt: Prompt, **options: object) -> Iterator[str]:
        """Like generate(), but yields the pieces of text as they come. Closing the iterator ends the generation."""
        if "on_text" in options:
            raise TypeError("stream() hands out the text itself: on_text is for generate()")
        return _stream(self, prompt, options)


def token_list(tokens: object) -> list[int]:
    """Token ids as a list; anything that is not a flat sequence of integers is a TypeError, never reinterpreted."""
    if hasattr(tokens, "tolist"):
        tokens = tokens.tolist()
    if not isinstance(tokens, Sequence) or isinstance(tokens, str | bytes):
        raise TypeError(f"token ids must be a flat sequence of integers, got {type(tokens).__name__}")
    for token in tokens:
        if not isinstance(token, int) or isinstance(token, bool):
            raise TypeError(f"token ids must be integers, got {type(token).__name__}")
        if not -(2**31) <= token < 2**31:
            raise ValueError(f"token id {token} does not fit into 32 bits")
    return list(tokens)


def _stream(generator: Generator, prompt: Prompt, options: dict[str, object]) -> Iterator[str]:
    pieces: queue.SimpleQueue[tuple[str, object]] = queue.SimpleQueue()
    closed = threading.Event()

    def on_text(piece: str) -> bool:
        pieces.put(("text", piece))
        return not closed.is_set()

    def work() -> None:
        try:
            generator.generate(prompt, on_text=on_text, **options)
            pieces.put(("end", None))
        except BaseException as error:  # handed over to the consumer, which raises it
            pieces.put(("error", error))

    worker = threading.Thread(target=work, name="atb-stream", daemon=True)
    worker.start()
    try:
        while True:
            kind, value = pieces.get()
            if kind == "error":
                raise value
            if kind == "end":
                return
            if value:
                yield value
    finally:
        closed.set()
        worker.join()
