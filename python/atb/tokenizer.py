"""The tokenizer of a model, as Python sees it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from atb import _core


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
    def bos_token(self) -> str:
        """The text of the token that begins a sequence, empty if the model has none."""
        return self._core.special_tokens().bos_text

    @property
    def eos_token(self) -> str:
        """The text of the (first) token that ends a sequence, empty if the model has none."""
        return self._core.special_tokens().eos_text

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

        tokens = encode_chat(self, self.chat_template, messages)
        special = self._core.special_tokens()
        if special.adds_bos and tokens[:1] != [special.bos]:
            tokens.insert(0, special.bos)
        return tokens
