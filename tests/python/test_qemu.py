"""The command and `import atb` on CPUs with AVX2 only and with neither AVX nor FMA, emulated by qemu-user."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from test_cli import ATB
from tiny_models import byte_gguf

QEMU = shutil.which("qemu-x86_64")
ISAS = {"Haswell": "avx2", "Nehalem": "portable"}

if QEMU is None:
    print("not run: no qemu-x86_64")
pytestmark = pytest.mark.skipif(QEMU is None, reason="not run: no qemu-x86_64")


def emulate(cpu: str, *command: object, **env: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [QEMU, "-cpu", cpu, *map(str, command)], capture_output=True, text=True, timeout=120, env={**os.environ, **env}
    )


@pytest.fixture(scope="module")
def tiny(tmp_path_factory) -> Path:
    return byte_gguf(tmp_path_factory.mktemp("qemu") / "tiny.gguf")


@pytest.mark.parametrize(("cpu", "isa"), ISAS.items())
def test_info_names_what_this_cpu_has(cpu, isa):
    done = emulate(cpu, ATB, "info", "--json")
    assert done.returncode == 0, done.stderr
    assert f'"isa":"{isa}"' in done.stdout.replace(" ", "")


@pytest.mark.parametrize("cpu", ISAS)
def test_run_gives_the_tokens_of_the_real_cpu(tiny, cpu):
    command = [ATB, "run", tiny, "--raw", "-p", "hello", "-n", "2", "--quiet", "--ignore-eos", "--precision", "fp32"]
    expected = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True)
    done = emulate(cpu, *command)
    assert (done.returncode, done.stdout) == (0, expected.stdout), done.stderr


@pytest.mark.parametrize("cpu", ISAS)
def test_python_loads_the_package(cpu):
    done = emulate(cpu, sys.executable, "-c", "import atb._core; print(atb._core.Model.__name__)")
    assert (done.returncode, done.stdout) == (0, "Model\n"), done.stderr


def test_an_isa_that_is_not_there_is_a_clean_error(tiny):
    done = emulate("Haswell", ATB, "run", tiny, "--raw", "-p", "hello", ATB_MAX_ISA="avx512")
    assert done.returncode == 2
    (line,) = [line for line in done.stderr.splitlines() if not line.startswith("qemu-x86_64: warning")]
    assert line.startswith("atb: error: ") and "ATB_MAX_ISA" in line and "it has portable, avx2" in line
