"""What fusion does to a model."""

from __future__ import annotations

import json
import os
from typing import Any

from atb import _core
from atb.model import Model


def explain(
    model: str | os.PathLike[str] | Model,
    *,
    device: str | None = None,
    seq: int = 512,
    batch: int = 1,
    past: int = 0,
    layer: int | None = None,
) -> dict[str, Any]:
    """Say what is fused in a model, what it saves, and why the rest is not: the object of `atb explain --json`.

    model: a GGUF file or a Hugging Face folder (only its header is read), or a loaded model (the graph that it runs).
    device: "host", a built-in name such as "ascend910", or a JSON file; None is ATB_DEVICE_PROFILE, then "host".
    seq, batch, past: tokens of a call per sequence, sequences, tokens already in the KV cache.
    layer: only the layer of this number.

    Raises atb.Error: its `code` is "file", "model" or "usage".
    """
    is_model = isinstance(model, Model)
    path = model.description.path if is_model else os.fspath(model)
    graph = model.graph if is_model else None
    return json.loads(_core.explain_json(path, graph, device or "", seq, batch, past, layer))
