"""Models and their sessions, as Python sees them."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from atb import _core
from atb.generation import Generator, token_list
from atb.tokenizer import Tokenizer

if TYPE_CHECKING:
    import numpy as np

    from atb.generation import Tokens


def load(
    path: str | os.PathLike[str],
    *,
    precision: str | None = None,
    threads: int | None = None,
    context: int | None = None,
    kv_type: str | None = None,
    max_isa: str | None = None,
    prefill_block: int | None = None,
    graph: str | None = None,
) -> Model:
    """Load a GGUF file or a Hugging Face folder.

    precision: "default", "fp32" or "bf16"; threads: how many to compute with; context: most tokens of one sequence;
    kv_type: "f32", "f16" or "bf16"; max_isa: "portable" ... "amx"; prefill_block: tokens per step of a prompt;
    graph: a text as `Model.graph` prints it, run instead of the model's own graph.
    What is None comes from the environment (ATB_PRECISION, ATB_NUM_THREADS, ATB_MAX_ISA), then from the default.

    Raises atb.Error: its `code` is "file", "model", "usage" or "resources".
    """
    options = _core.LoadOptions()
    options.precision = precision
    options.threads = threads
    options.context = context
    options.kv_type = kv_type
    options.max_isa = max_isa
    options.prefill_block = prefill_block
    options.graph_text = graph
    return Model(_core.Model.load(os.fspath(path), options))


class Model(Generator):
    """A loaded model. Calls may come from several threads; one computes at a time, without holding the GIL."""

    def __init__(self, core: _core.Model) -> None:
        self._core = core
        self.tokenizer = Tokenizer(core)

    @property
    def description(self) -> _core.ModelDescription:
        """Sizes, types, instruction set, precision and threads of this model."""
        return self._core.description

    @property
    def graph(self) -> str:
        """The graph that runs, as text; `load(path, graph=text)` runs an edited one."""
        return self._core.graph_text()

    def logits(self, tokens: Tokens) -> np.ndarray:
        """Logits of every position: float32 [len(tokens), vocab_size]."""
        return self._core.logits(token_list(tokens))

    def session(self) -> Session:
        """A new, empty sequence that lives on between calls."""
        return Session(self._core.session())

    def __repr__(self) -> str:
        d = self.description
        return f"<atb.Model {d.architecture}, {d.layers} layers, {d.weight_types}, {d.cube}, {d.threads} threads>"

    def __reduce__(self) -> object:
        raise TypeError("an atb.Model cannot be pickled or copied: load it again from " + self.description.path)


class Session(Generator):
    """A sequence of tokens with its KV cache: what a prompt has in common with it is not computed again.

    A session does one thing at a time: a call during another one, from a thread or from on_text, is a RuntimeError.
    """

    def __init__(self, core: _core.Session) -> None:
        self._core = core
        self._busy = threading.Lock()

    def feed(self, tokens: Tokens) -> np.ndarray:
        """Append tokens; the logits of the last one, float32 [vocab_size].

        Raises atb.Error: "resources" if the context does not hold them, "usage" for no tokens or one out of range.
        """
        with self._alone():
            return self._core.feed(token_list(tokens))

    @property
    def length(self) -> int:
        """How many tokens the sequence has."""
        return self._core.length

    def __len__(self) -> int:
        return self.length

    def __bool__(self) -> bool:
        return True

    def truncate(self, length: int) -> None:
        """Forget all but the first `length` tokens."""
        with self._alone():
            self._core.truncate(length)

    def reset(self) -> None:
        """Forget all tokens."""
        self.truncate(0)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        if not self._busy.acquire(blocking=False):
            raise RuntimeError("this session is computing: wait for the other call, or use a session of its own")
        try:
            yield
        finally:
            self._busy.release()
