"""atb.explain and the commands explain and rules on the default model."""

from __future__ import annotations

import json
import os
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest

import atb

ROOT = Path(__file__).resolve().parents[2]
ATB = os.environ.get("ATB_BINARY", str(ROOT / "build/release/cli/atb"))
FIGURES = {
    "kernels_before", "kernels_after", "round_trips_before", "round_trips_after", "bytes_before", "bytes_after",
    "us_before", "us_after",
}  # fmt: skip
DEVICE = "emerald_rapids"


def command(*arguments: object) -> str:
    result = subprocess.run([ATB, *map(str, arguments)], capture_output=True, text=True, timeout=60)
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def explained(model_path) -> dict:
    return atb.explain(model_path, device=DEVICE)


def test_totals_are_the_sums_of_the_layers(explained):
    assert explained["totals"].keys() == FIGURES
    for key in FIGURES:
        assert explained["totals"][key] == pytest.approx(sum(layer[key] for layer in explained["layers"])), key


def test_smollm2_needs_half_the_kernels_per_layer(explained):
    layers = [layer for layer in explained["layers"] if layer["name"].startswith("layers.")]
    assert len(layers) == 30
    for layer in layers:
        assert layer["kernels_before"] == 20
        assert layer["kernels_before"] >= 2 * layer["kernels_after"]
        (ffn,) = [region for region in layer["regions"] if region["name"] == "FusedFFN"]
        assert (ffn["round_trips_before"], ffn["round_trips_after"]) == (16, 2)


def test_fusing_takes_less_than_50_ms(model_path):
    assert min(atb.explain(model_path, device=DEVICE)["fuse_ms"] for _ in range(3)) < 50


def test_one_layer(model_path):
    (layer,) = atb.explain(model_path, device=DEVICE, layer=3)["layers"]
    assert layer["name"] == "layers.3"


def test_sizes_and_devices_matter(model_path, explained):
    assert atb.explain(model_path, device=DEVICE, seq=1024)["totals"]["us_before"] > explained["totals"]["us_before"]
    assert atb.explain(model_path, device="ascend910")["device"] == "ascend910"


@pytest.mark.parametrize(
    ("arguments", "part"),
    [({"seq": 0}, "seq"), ({"layer": 99}, "layer"), ({"device": "ascend911"}, "ascend910"), ({"batch": -1}, "batch")],
)
def test_wrong_arguments_are_errors(model_path, arguments, part):
    with pytest.raises(atb.Error) as error:
        atb.explain(model_path, **arguments)
    assert error.value.code == "usage"
    assert part in str(error.value)


def test_missing_file_is_an_error():
    with pytest.raises(atb.Error) as error:
        atb.explain("/nowhere/model.gguf")
    assert error.value.code == "file"


def test_a_loaded_model_is_explained_by_its_graph(model_path, explained):
    model = atb.load(model_path, threads=1)
    assert atb.explain(model, device=DEVICE)["totals"]["kernels_before"] == explained["totals"]["kernels_before"]


def test_command_prints_the_same_object(model_path, explained):
    printed = json.loads(command("explain", model_path, "--device", DEVICE, "--json"))
    del printed["fuse_ms"]
    assert printed == {key: value for key, value in explained.items() if key != "fuse_ms"}


def test_command_folds_identical_layers(model_path):
    text = command("explain", model_path, "--device", DEVICE)
    assert "layers.0-29, each" in text
    assert len(text.splitlines()) < 60


class Tags(HTMLParser):
    """Every element with its attributes, and whether all were closed in order."""

    VOID = {"meta", "path", "rect"}

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.attributes: set[str] = set()

    def handle_starttag(self, tag, attrs):
        self.attributes |= {name for name, _ in attrs}
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.attributes |= {name for name, _ in attrs}

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_page_is_well_formed_and_loads_nothing(model_path, tmp_path):
    page = tmp_path / "page.html"
    assert command("explain", model_path, "--device", DEVICE, "--html", page) == ""
    tags = Tags()
    tags.feed(page.read_text(encoding="utf-8"))
    assert tags.open == []
    assert not {"src", "href", "onclick", "onload"} & tags.attributes
    assert page.stat().st_size < 200_000


def test_region_is_printed_whole(model_path):
    spec = json.loads(command("explain", model_path, "--device", DEVICE, "--region", "FusedFFN", "--json"))
    assert {"parallel", "reduce", "contract"} == {role for dim in spec["dims"] for role in dim["roles"]}
    assert [stage["phase"] for stage in spec["stages"]].count("product") == 3
    assert 0 < spec["workspace_bytes"] <= spec["workspace_available_bytes"]


def test_rules_are_listed():
    rules = json.loads(command("rules", "--json"))["rules"]
    assert len({rule["name"] for rule in rules}) == len(rules) >= 30
    for rule in rules:
        assert all(rule[key] for key in ("equation", "pattern", "shapes", "numerics", "clauses", "saves", "example"))
    assert all(rule["name"] in command("rules") for rule in rules[:3])
