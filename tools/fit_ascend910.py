#!/usr/bin/env python3
"""Fits the constants of the ascend910 profile to the figures of the two articles.

    tools/fit_ascend910.py --atb .venv/bin/atb [--markdown FILE]

The model itself is the C++ one: every trial writes a profile and reads `atb bench --device FILE --json`. Minimised is
the sum of squares of log(modelled / article) over the cells of FITTED; an article's range counts from its nearer end.
Then each cell is left out in turn, the rest is fitted again, and the deviation at the cell left out is printed.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from scipy.optimize import least_squares

# name: (lower bound, start, upper bound, unit, physical meaning, where the bounds are published)
CONSTANTS = {
    "cube_efficiency": (
        0.02,
        0.08,
        1.0,
        "",
        "share of the 256 TFLOPS that a matrix kernel reaches at 128 rows",
        "data sheet: 256 TFLOPS is the peak; 5 TFLOPS would be one core of 32",
    ),
    "memory_efficiency": (
        0.2,
        0.5,
        1.0,
        "",
        "share of the 1.6 TB/s that a kernel reaches",
        "article 2: 1.6 TB/s is theoretical; article 1 prints 2000 GB/s",
    ),
    "vector_efficiency": (
        0.002,
        0.01,
        1.0,
        "",
        "share of the vector peak that element-wise and row kernels reach",
        "article 2: low utilisation, each pass waits for the one before; one lane of 128 is 0.8 %",
    ),
    "launch": (
        1e-6,
        8e-6,
        30e-6,
        "s",
        "starting one kernel from eager mode",
        "article 2: fusion saves one start of the pipeline per operator; tens of microseconds at most",
    ),
    "round_trip": (
        1e-6,
        12e-6,
        50e-6,
        "s",
        "latency of writing one activation tensor to HBM, or of reading it back",
        "article 2: each write-back and each read costs tens of microseconds",
    ),
    "step": (
        0.5e-3,
        2e-3,
        2e-3,
        "s",
        "sampling, cache management and dispatch of one step",
        "article 2: other, about 2 ms, with the language-model head",
    ),
    "icache_penalty": (
        0.0,
        0.02,
        0.2,
        "",
        "slowdown of the compute units per operator beyond five",
        "article 2: more than five fused operators get slower",
    ),
}

# The fit uses every cell of these tables but the one that the model cannot follow (docs/cost_model.md): that is printed
# and not fitted. The other tables count; no constant moves them.
FITTED_TABLES = ("latency", "norm_fusion", "norm_gain")
PRINTED_ONLY = {("norm_gain", "batch 1, context 8192")}


class Model:
    """The C++ cost model, called through the command."""

    def __init__(self, atb):
        self.atb = atb
        self.base = self.bench("ascend910")["profile"]
        self.folder = tempfile.TemporaryDirectory()
        self.file = pathlib.Path(self.folder.name) / "profile.json"

    def bench(self, device):
        done = subprocess.run([self.atb, "bench", "--device", device, "--json"], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(done.stderr)
        return json.loads(done.stdout)

    def cells(self, constants):
        """{(table, row, column): (value, low, high)} of every cell that the articles print."""
        self.file.write_text(json.dumps({**self.base, **constants}))
        result = {}
        for table in self.bench(str(self.file))["tables"]:
            for row in table["rows"]:
                for column, value, low, high in zip(
                    table["columns"], row["values"], row["low"], row["high"], strict=True
                ):
                    if low is not None:
                        result[table["name"], row["label"], column] = (value, low, high)
        return result


def log_ratio(cell):
    value, low, high = cell
    return 0.0 if low <= value <= high else float(np.log(value / np.clip(value, low, high)))


def is_fitted(key):
    return key[0] in FITTED_TABLES and key[:2] not in PRINTED_ONLY


def fit(model, left_out=None):
    names = list(CONSTANTS)
    low, start, high = (np.array([CONSTANTS[n][i] for n in names]) for i in range(3))
    scale = high - low

    def residuals(x):
        cells = model.cells(dict(zip(names, low + x * scale, strict=True)))
        return np.array([log_ratio(c) for key, c in cells.items() if is_fitted(key) and key != left_out])

    x0 = np.clip((start - low) / scale, 1e-3, 1 - 1e-3)
    found = least_squares(residuals, x0, bounds=(0, 1), diff_step=1e-3, max_nfev=40)
    return {name: float(value) for name, value in zip(names, low + found.x * scale, strict=True)}


def percent(ratio):
    return f"{100 * (np.exp(ratio) - 1):+.1f}%"


def report(model, constants):
    cells = model.cells(constants)
    lines = ["| constant | value | bounds | meaning | source of the bounds |", "|---|---|---|---|---|"]
    for name, (low, _, high, unit, meaning, source) in CONSTANTS.items():
        lines.append(f"| `{name}` | {constants[name]:.3g} {unit} | {low:g} to {high:g} | {meaning} | {source} |")
    lines += ["", "| cell | article | model | deviation | left out |", "|---|---|---|---|---|"]
    for key, cell in cells.items():
        value, low, high = cell
        left_out = percent(log_ratio(model.cells(fit(model, key))[key])) if is_fitted(key) else "not fitted"
        article = f"{low:g}" if low == high else f"{low:g}-{high:g}"
        label = f"{key[0]}: {key[1]}, {key[2]}"
        lines.append(f"| {label} | {article} | {value:.4g} | {percent(log_ratio(cell))} | {left_out} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--atb", default="atb", help="the command")
    parser.add_argument("--quick", action="store_true", help="fit once, leave nothing out")
    parser.add_argument("--markdown", help="write the tables to this file too")
    options = parser.parse_args()
    model = Model(options.atb)
    constants = fit(model)
    if options.quick:
        for name, value in constants.items():
            print(f"{name} = {value:.4g}")
        for key, cell in model.cells(constants).items():
            print(f"{percent(log_ratio(cell)):>8}  {cell[0]:8.4g}  {cell[1]:g}  {key}")
        return
    text = report(model, constants)
    print(text, end="")
    if options.markdown:
        pathlib.Path(options.markdown).write_text(text)


if __name__ == "__main__":
    main()
