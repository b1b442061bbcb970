"""This project's engine through its Python API."""

from __future__ import annotations

import numpy as np

import atb
import engine


class Atb:
    def __init__(self, path: str, threads: int) -> None:
        model = atb.load(path, threads=threads, context=2048)
        self._session = model.session()
        d = model.description
        self.about = {"version": atb.__version__, "isa": d.isa, "cube": d.cube, "precision": d.precision}

    def reset(self) -> None:
        self._session.reset()

    def feed(self, ids: list[int]) -> np.ndarray:
        return self._session.feed(ids)


if __name__ == "__main__":
    args = engine.arguments()
    engine.serve(Atb(args.model, args.threads))
