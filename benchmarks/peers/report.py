"""Writes docs/performance.md from the results of run.py.

python benchmarks/peers/report.py [benchmarks/results/*.json] [--out docs/performance.md]
"""

from __future__ import annotations

import argparse
import json
import statistics
from pathlib import Path

ROOT = Path(__file__).parents[2]

HEAD = """# Performance

Written by `benchmarks/peers/report.py` from the files in `benchmarks/results`; `make bench` measures again. Every row
comes from one run: the same file, token ids and threads for all engines, one sample of each in turn (A B A B), medians
with the smallest and largest sample. The ratio is the median of the pairs, ours divided by the peer; the floor is the
least that the project holds. Only the logits of the last position are computed, tokens are chosen greedily.

llama.cpp is built for this machine (`GGML_NATIVE=ON`); on CPUs with AMX clang builds it where the compiler would be GCC
12 or older, whose build crashes there (`scripts/setup.sh`).
"""


def cell(samples: list[float]) -> str:
    return f"{statistics.median(samples):.0f} ({min(samples):.0f}-{max(samples):.0f})"


def table(result: dict) -> list[str]:
    ours, *peers = result["engines"]
    lines = [
        "| tok/s | " + " | ".join([ours, *peers]) + " |" + "".join(f" ratio to {p} | floor |" for p in peers),
        "|---|" + "---|" * (1 + 3 * len(peers)),
    ]
    for workload, samples in result["tok_s"].items():
        row = [workload, *(cell(samples[name]) for name in [ours, *peers])]
        for peer in peers:
            pairs = [a / b for a, b in zip(samples[ours], samples[peer], strict=True)]
            row += [f"**{statistics.median(pairs):.2f}**", f"{result['floors'][workload]}"]
        lines.append("| " + " | ".join(row) + " |")
    return lines


def section(result: dict) -> list[str]:
    lines = [
        f"## {result['cpu']}",
        "",
        f"{result['date']}, {result['threads']} threads, {result['model']}, commit {result['commit']}.",
        "",
        *table(result),
        "",
    ]
    for name, about in result["engines"].items():
        lines.append(f"- **{name}**: " + ", ".join(f"{key} {value}" for key, value in about.items()))
    for name, answer in list(result["answers"].items())[1:]:
        same = "the same" if answer["same_best_token"] else "another"
        lines.append(f"- Logits of {name} after 128 tokens: cosine {answer['cosine']:.5f} to ours, {same} best token.")
    return [*lines, ""]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="*", type=Path)
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "performance.md")
    args = parser.parse_args()
    files = args.results or sorted((ROOT / "benchmarks" / "results").glob("*.json"))
    lines = [HEAD]
    for path in files:
        lines += section(json.loads(path.read_text()))
    args.out.write_text("\n".join(lines))
    print(f"written: {args.out}")


if __name__ == "__main__":
    main()
