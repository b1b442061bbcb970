"""What every engine of the comparison offers, and how the runner talks to it.

An engine script defines a class with `reset()`, `feed(ids) -> logits of the last position` and `about`, and ends with
`serve(...)`. It stays alive between rounds, so that several prepared engines can be timed in turn (A B A B); while one
works the others are stopped.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from typing import Protocol

import numpy as np


class Engine(Protocol):
    """One engine with one model loaded."""

    about: dict[str, str]

    def reset(self) -> None:
        """Forget all tokens."""

    def feed(self, ids: list[int]) -> np.ndarray:
        """Append tokens; the logits of the last one."""


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", required=True)
    parser.add_argument("--threads", type=int, required=True)
    return parser.parse_args()


def prefill(engine: Engine, ids: list[int]) -> dict[str, float | int]:
    """Seconds for all of `ids` up to the best next token."""
    engine.reset()
    start = time.perf_counter()
    best = int(np.argmax(engine.feed(ids)))
    return {"seconds": time.perf_counter() - start, "token": best}


def decode(engine: Engine, ids: list[int], tokens: int) -> dict[str, float | list[int]]:
    """Seconds per greedy token after the context `ids`."""
    engine.reset()
    token = int(np.argmax(engine.feed(ids)))
    out = []
    start = time.perf_counter()
    for _ in range(tokens):
        token = int(np.argmax(engine.feed([token])))
        out.append(token)
    return {"seconds": (time.perf_counter() - start) / tokens, "tokens": out}


def check(engine: Engine, ids: list[int]) -> dict[str, list[float]]:
    """Logits after `ids`, for the comparison of answers."""
    engine.reset()
    return {"logits": [float(x) for x in engine.feed(ids)]}


ACTIONS = {"prefill": prefill, "decode": decode, "check": check}


def serve(engine: Engine) -> None:
    """Answer one JSON line per request on stdin until it closes."""
    print(json.dumps({"about": engine.about, "pid": os.getpid()}), flush=True)
    while line := _read_line():
        request = json.loads(line)
        action = ACTIONS[request.pop("action")]
        print(json.dumps(action(engine, **request)), flush=True)


def _read_line() -> str:
    try:
        return input()
    except EOFError:
        return ""
