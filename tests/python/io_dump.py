"""What the C++ file readers make of a model, through the test program io_dump."""

import json
import os
import resource
import subprocess
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / os.environ.get("ATB_BUILD_DIR", "build/release") / "tests" / "io_dump"


def run(*arguments, data_limit=None):
    """The finished process; `data_limit` bounds its writable memory in bytes."""

    def limit():
        if data_limit is not None:
            resource.setrlimit(resource.RLIMIT_DATA, (data_limit, data_limit))

    command = [str(PROGRAM), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, preexec_fn=limit, check=False)


def output(*arguments):
    """Its output as bytes; an error of the readers fails the test with their words."""
    result = run(*arguments)
    assert result.returncode == 0, result.stderr.decode()
    return result.stdout


def metadata(model):
    return json.loads(output(model, "metadata"))


def tensors(model):
    """Name -> {"dtype", "shape", "bytes"}."""
    return {t.pop("name"): t for t in json.loads(output(model, "tensors"))}


def values(model, tensor):
    return np.frombuffer(output(model, "values", tensor), dtype="<f4")
