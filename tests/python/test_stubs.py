"""python/atb/_core.pyi is what nanobind's stubgen writes for the built module."""

import subprocess
import sys
from pathlib import Path

COMMITTED = Path(__file__).resolve().parents[2] / "python/atb/_core.pyi"


def test_the_committed_stub_is_the_generated_one(tmp_path):
    path = tmp_path / "_core.pyi"
    command = [sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "atb._core", "-o", str(path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert path.read_text() == COMMITTED.read_text(), f"regenerate: {' '.join(command[1:-1])} {COMMITTED}"
