"""Models and their tokenizers, as Python sees them."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from atb import _core

if TYPE_CHECKING:
    import numpy as np

    Prompt = str | Sequence[int] | np.ndarray


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


class Tokenizer:
    """The tokenizer of a model."""

    def __init__(self, core: _core.Model) -> None:
        self._core = core

    def encode(self, text: str, *, add_special: bool = True, parse_special: bool = False) -> list[int]:
        """Token ids of `text`. parse_special: text such as <|im_start|> becomes the control token."""
        return self._core.tokenize(text, add_special, parse_special)

    def decode(self, tokens: Iterable[int]) -> str:
        """The text of token ids; control tokens give nothing, bytes that are no UTF-8 give U+FFFD."""
        return self._core.detokenize([int(t) for t in tokens])

    @property
    def vocab_size(self) -> int:
        return self._core.vocab_size

    @property
    def chat_template(self) -> str:
        """The Jinja source of the model's chat template, empty if it has none."""
        return self._core.chat_template

    def apply_chat_template(self, messages: Sequence[dict[str, str]]) -> list[int]:
        """Token ids of a conversation, ending where the assistant speaks.

        messages: [{"role": "user", "content": "..."}, ...]. Only the template's own markers become control tokens.
        Well-known templates are rendered natively; any other one needs jinja2 and runs in its sandbox.
        """
        try:
            return self._core.chat_tokens([[m["role"], m["content"]] for m in messages])
        except _core.Error as error:
            if not self.chat_template or error.code != "model":
                raise
        from atb.chat import encode_chat

        return encode_chat(self, self.chat_template, messages)


class Model:
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
        on_text: Callable[[str], object] | None = None,
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
        if isinstance(prompt, str):
            return self._core.generate_text(prompt, options, on_text)
        return self._core.generate_tokens(_token_list(prompt), options, on_text)

    def stream(self, prompt: Prompt, **options: object) -> Iterator[str]:
        """Like generate(), but yields the pieces of text as they come. Closing the iterator ends the generation."""
        if "on_text" in options:
            raise TypeError("stream() hands out the text itself: on_text is for generate()")
        return _stream(self, prompt, options)

    def logits(self, tokens: Sequence[int] | np.ndarray) -> np.ndarray:
        """Logits of every position: float32 [len(tokens), vocab_size]."""
        return self._core.logits(_token_list(tokens))

    def __repr__(self) -> str:
        d = self.description
        return f"<atb.Model {d.architecture}, {d.layers} layers, {d.weight_types}, {d.cube}, {d.threads} threads>"

    def __reduce__(self) -> object:
        raise TypeError("an atb.Model cannot be pickled or copied: load it again from " + self.description.path)


def _token_list(tokens: object) -> list[int]:
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


def _stream(model: Model, prompt: Prompt, options: dict[str, object]) -> Iterator[str]:
    pieces: queue.SimpleQueue[tuple[str, object]] = queue.SimpleQueue()
    closed = threading.Event()

    def on_text(piece: str) -> bool:
        pieces.put(("text", piece))
        return not closed.is_set()

    def work() -> None:
        try:
            model.generate(prompt, on_text=on_text, **options)
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
