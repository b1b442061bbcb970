"""Sums up the reports of a test run: what ran, what failed, what was skipped and why, what this CPU could not run.

Usage: test_summary.py FOLDER [--expect-python]. FOLDER has ctest.xml, gtest/*.xml and pytest.xml, all in JUnit's form.
A ctest entry that wrote a GoogleTest report is counted by its cases, any other by itself.
"""

import argparse
import collections
import dataclasses
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree

NOT_RUN = re.compile(r"not run: .+")


@dataclasses.dataclass
class Summary:
    passed: int = 0
    failed: list[str] = dataclasses.field(default_factory=list)
    skipped: dict[str, list[str]] = dataclasses.field(default_factory=lambda: collections.defaultdict(list))
    not_run: collections.Counter = dataclasses.field(default_factory=collections.Counter)

    def add_case(self, name: str, case: ElementTree.Element) -> None:
        skip = case.find("skipped")
        if case.find("failure") is not None or case.find("error") is not None:
            self.failed.append(name)
        elif skip is not None:
            lines = (skip.get("message") or skip.text or "no reason given").strip().splitlines()
            self.skipped[lines[-1]].append(name)
        else:
            self.passed += 1

    def add_output(self, element: ElementTree.Element) -> None:
        for part in element.iter("system-out"):
            self.not_run.update(NOT_RUN.findall(part.text or ""))


def read_gtest(folder: pathlib.Path) -> dict[str, ElementTree.Element]:
    """Report of each test program, under the name of its ctest entry: base_test.xml is that of `base`."""
    return {path.stem.removesuffix("_test"): ElementTree.parse(path).getroot() for path in folder.glob("*.xml")}


def add_ctest(summary: Summary, report: pathlib.Path, programs: dict[str, ElementTree.Element]) -> None:
    for entry in ElementTree.parse(report).getroot().iter("testcase"):
        name = entry.get("name")
        summary.add_output(entry)
        if name not in programs:
            summary.add_case(f"ctest {name}", entry)
            continue
        failed_before = len(summary.failed)
        for case in programs[name].iter("testcase"):
            title = f"{name}: {case.get('classname')}.{case.get('name')}"
            if case.get("status") == "run":
                summary.add_case(title, case)
            else:
                summary.skipped["disabled in the source"].append(title)
        # A crash or a sanitizer's complaint at exit is in no case.
        if entry.find("failure") is not None and len(summary.failed) == failed_before:
            summary.failed.append(f"ctest {name}")


def add_pytest(summary: Summary, report: pathlib.Path) -> None:
    root = ElementTree.parse(report).getroot()
    summary.add_output(root)
    for case in root.iter("testcase"):
        summary.add_case(f"{case.get('classname')}::{case.get('name')}", case)


def summarize(folder: pathlib.Path, expect_python: bool) -> Summary:
    summary = Summary()
    if (folder / "ctest.xml").is_file():
        add_ctest(summary, folder / "ctest.xml", read_gtest(folder / "gtest"))
    else:
        summary.failed.append("ctest wrote no report")
    if (folder / "pytest.xml").is_file():
        add_pytest(summary, folder / "pytest.xml")
    elif expect_python:
        summary.failed.append("pytest wrote no report")
    return summary


def print_summary(summary: Summary) -> None:
    skipped = sum(len(names) for names in summary.skipped.values())
    print(f"\n{summary.passed + len(summary.failed)} tests ran")
    for name in summary.failed:
        print(f"failed: {name}")
    for reason, names in summary.skipped.items():
        print(f"skipped: {len(names)} x {reason} (first: {names[0]})")
    for line, count in sorted(summary.not_run.items()):
        print(f"{line} ({count} x)")
    if not summary.not_run:
        print("every ISA path that the tests know ran on this CPU")
    print(f"{summary.passed} passed, {len(summary.failed)} failed, {skipped} skipped")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--expect-python", action="store_true")
    arguments = parser.parse_args()
    summary = summarize(arguments.folder, arguments.expect_python)
    print_summary(summary)
    return 1 if summary.failed or not summary.passed else 0


if __name__ == "__main__":
    sys.exit(main())
