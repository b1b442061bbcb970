"""`pip install .` in a fresh virtual environment, with build isolation, as a user does it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.long
def test_a_clean_environment_gets_the_package_and_the_command(tmp_path):
    # What the tests use must not stand in for what the wheel has.
    env = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}

    def run(*command: object) -> str:
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, cwd=tmp_path, env=env)
        assert done.returncode == 0, done.stderr
        return done.stdout

    run(sys.executable, "-m", "venv", tmp_path / "venv")
    programs = tmp_path / "venv/bin"
    run(programs / "pip", "install", "--quiet", ROOT)
    assert run(programs / "atb", "--version").startswith("atb ")
    files = run(
        programs / "python", "-c", "import atb, os; print(atb.__file__, *os.listdir(os.path.dirname(atb.__file__)))"
    )
    assert str(tmp_path) in files
    assert "_core.pyi" in files and "py.typed" in files
