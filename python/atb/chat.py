"""Chat templates that are not built in, rendered by Jinja2's sandbox. Templates come from model files: untrusted."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from types import FrameType
from typing import TYPE_CHECKING, Any

from atb._core import Error

if TYPE_CHECKING:
    from atb.tokenizer import Tokenizer

TIME_LIMIT_S = 2.0
MAX_TEXT = 1 << 22  # characters that one operator of a template may produce


def _error(message: str, hint: str = "") -> Error:
    error = Error(f"{message}; {hint}" if hint else message)
    error.code, error.message, error.where, error.hint = "model", message, "chat template", hint
    return error


class _Deadline:
    """Raises inside the template once its time is up: the compiled template is Python code, so tracing sees it."""

    def __enter__(self) -> None:
        self._end = time.monotonic() + TIME_LIMIT_S
        self._previous = sys.gettrace()
        sys.settrace(self._trace)

    def __exit__(self, *_: object) -> None:
        sys.settrace(self._previous)

    def _trace(self, frame: FrameType, event: str, argument: object) -> Any:
        if time.monotonic() > self._end:
            raise _error(f"the template ran longer than {TIME_LIMIT_S} s")
        return self._trace


def render_chat(template: str, messages: Sequence[dict[str, str]], **variables: object) -> str:
    """The text of a conversation by a Jinja `template`, ending where the assistant speaks.

    Raises atb.Error (code "model") if the template does not parse, touches what the sandbox forbids, raises by itself
    or runs too long; ImportError says how to install jinja2.
    """
    try:
        import jinja2
        from jinja2.sandbox import ImmutableSandboxedEnvironment
    except ImportError as error:
        raise ImportError("this chat template needs jinja2: pip install 'transformer-boost[chat]'") from error

    class Sandbox(ImmutableSandboxedEnvironment):
        intercepted_binops = frozenset(["*", "**", "+"])

        def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
            if operator == "**":
                raise _error("the template uses **, which is refused")
            if operator == "*" and (isinstance(left, str | list) or isinstance(right, str | list)):
                raise _error("the template repeats a sequence with *, which is refused")
            result = super().call_binop(context, operator, left, right)
            if isinstance(result, str | list) and len(result) > MAX_TEXT:
                raise _error(f"the template builds a text of more than {MAX_TEXT} characters")
            return result

    def raise_exception(message: str) -> None:
        raise _error(f"the template refuses this conversation: {message}")

    environment = Sandbox(trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"])
    environment.globals["raise_exception"] = raise_exception
    try:
        compiled = environment.from_string(template)
        with _Deadline():
            return compiled.render(messages=list(messages), add_generation_prompt=True, **variables)
    except Error:
        raise
    except (jinja2.TemplateError, TypeError, ValueError, KeyError, AttributeError, OverflowError) as error:
        raise _error(f"the template cannot be rendered: {error}") from error


def encode_chat(tokenizer: Tokenizer, template: str, messages: Sequence[dict[str, str]]) -> list[int]:
    """Token ids of a conversation. Only the template's own text may become control tokens, never a message's text.

    Each content is replaced by a mark before rendering; the text around the marks is the template's.
    """
    marks = [f"\ue000{index}\ue001" for index in range(len(messages))]
    marked = [{**message, "content": mark} for message, mark in zip(messages, marks, strict=True)]
    text = render_chat(template, marked, bos_token=tokenizer.bos_token, eos_token=tokenizer.eos_token)
    tokens: list[int] = []
    for index, mark in enumerate(marks):
        before, found, text = text.partition(mark)
        if not found:
            raise _error(f"the template leaves out or reorders message {index + 1}")
        tokens += tokenizer.encode(before, add_special=False, parse_special=True)
        tokens += tokenizer.encode(messages[index]["content"], add_special=False)
    return tokens + tokenizer.encode(text, add_special=False, parse_special=True)
