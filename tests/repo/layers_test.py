"""Layers only import downwards: checks every #include and every CMake dependency against cmake/layers.cmake."""

import pathlib
import re
import tempfile
import unittest

from repo import ROOT, write_tree

# The layer that implements each public header. A new header gets its line here.
HEADER_OWNERS = {
    "dtype.h": "base",
    "error.h": "base",
    "graph.h": "ir",
    "ops.h": "ir",
    "ops.inc": "ir",
    "explain.h": "fusion",
    "fusion.h": "fusion",
    "plan_report.h": "fusion",
    "engine.h": "engine",
}

# Folders above the layers: they see the public headers and their own files, nothing else.
CLIENTS = ("cli", "python", "examples")

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
SOURCES = {".h", ".cc", ".inc"}


def read_layers(root: pathlib.Path) -> list[str]:
    """The layers from the top down."""
    match = re.search(r"set\(ATB_LAYERS ([^)]*)\)", (root / "cmake" / "layers.cmake").read_text())
    return match.group(1).split()


def source_files(folder: pathlib.Path) -> list[pathlib.Path]:
    return sorted(path for path in folder.rglob("*") if path.suffix in SOURCES)


def included_layer(root: pathlib.Path, file: pathlib.Path, kind: str, name: str) -> str | None:
    """The layer of an included project file; None for another library's header; "" when nothing is known of it."""
    if name.startswith("atb/"):
        return HEADER_OWNERS.get(name.removeprefix("atb/"), "")
    if kind == "<":
        return None
    for base in (root / "src", file.parent):
        if (base / name).is_file():
            return (base / name).resolve().relative_to((root / "src").resolve()).parts[0]
    return ""


def upward_includes(root: pathlib.Path) -> list[str]:
    """One line per #include in src/ that does not point to the same or a lower layer."""
    layers = read_layers(root)
    problems = []
    owned = [(path, path.relative_to(root / "src").parts[0]) for path in source_files(root / "src")]
    owned += [(path, HEADER_OWNERS.get(path.name, "")) for path in source_files(root / "include" / "atb")]
    for path, layer in owned:
        if layer not in layers:
            problems.append(f"{path.relative_to(root)}: belongs to no layer ({layer or 'not in HEADER_OWNERS'})")
            continue
        for kind, name in INCLUDE.findall(path.read_text()):
            target = included_layer(root, path, kind, name)
            if target is None:
                continue
            if target not in layers:
                problems.append(f"{path.relative_to(root)}: includes {name}, which is in no layer")
            elif layers.index(target) < layers.index(layer):
                problems.append(f"{path.relative_to(root)}: {layer} includes {name} of {target}, a higher layer")
    return problems


def upward_dependencies(root: pathlib.Path) -> list[str]:
    """The same for the targets that a layer's CMakeLists.txt names."""
    layers = read_layers(root)
    problems = []
    for path in sorted((root / "src").glob("*/CMakeLists.txt")):
        layer = path.parent.name
        for target in re.findall(r"\batb_(\w+)", path.read_text()):
            if target in layers and layers.index(target) < layers.index(layer):
                problems.append(f"{path.relative_to(root)}: {layer} depends on {target}, a higher layer")
    return problems


def internal_includes(root: pathlib.Path) -> list[str]:
    """One line per #include in the clients' folders that reaches into src/."""
    problems = []
    for client in CLIENTS:
        for path in source_files(root / client):
            for kind, name in INCLUDE.findall(path.read_text()):
                own = kind == '"' and ((path.parent / name).is_file() or (root / client / name).is_file())
                if (root / "src" / name).is_file() and not own:
                    problems.append(f"{path.relative_to(root)}: includes {name}, only <atb/...> is for {client}/")
    return problems


def all_problems(root: pathlib.Path) -> list[str]:
    return upward_includes(root) + upward_dependencies(root) + internal_includes(root)


class LayersTest(unittest.TestCase):
    def test_tree_only_imports_downwards(self):
        self.assertEqual(all_problems(ROOT), [])

    def test_every_layer_is_checked(self):
        folders = {path.name for path in (ROOT / "src").iterdir() if source_files(path)}
        self.assertLessEqual(folders, set(read_layers(ROOT)))
        self.assertIn("base", folders)


class SelfCheck(unittest.TestCase):
    """The checker finds each kind of fault in a small bad tree."""

    GOOD = {
        "cmake/layers.cmake": "set(ATB_LAYERS engine ir base)",
        "src/base/log.h": "#include <string>\n",
        "src/ir/graph.cc": '#include "base/log.h"\n#include "rules.inc"\n#include <atb/error.h>\n',
        "src/ir/rules.inc": "",
        "src/ir/CMakeLists.txt": "atb_layer(ir DEPENDS atb_base)",
        "cli/main.cc": '#include <atb/engine.h>\n#include "args.h"\n',
        "cli/args.h": "",
    }

    def problems_with(self, **changes: str) -> list[str]:
        renamed = {name.replace("__", "/").replace("_dot_", "."): text for name, text in changes.items()}
        with tempfile.TemporaryDirectory() as folder:
            return all_problems(write_tree(pathlib.Path(folder), self.GOOD | renamed))

    def test_good_tree_passes(self):
        self.assertEqual(self.problems_with(), [])

    def test_upward_include(self):
        problems = self.problems_with(src__base__text_dot_cc='  #  include "ir/rules.inc"\n')
        self.assertEqual(problems, ["src/base/text.cc: base includes ir/rules.inc of ir, a higher layer"])

    def test_upward_public_include(self):
        self.assertIn("a higher layer", self.problems_with(src__base__text_dot_cc="#include <atb/engine.h>")[0])
        self.assertIn("a higher layer", self.problems_with(include__atb__error_dot_h="#include <atb/graph.h>")[0])

    def test_public_header_without_owner(self):
        self.assertIn("HEADER_OWNERS", self.problems_with(include__atb__new_dot_h="")[0])

    def test_unknown_include_and_unknown_layer(self):
        self.assertIn("in no layer", self.problems_with(src__base__text_dot_cc='#include "bas/log.h"')[0])
        self.assertIn("belongs to no layer", self.problems_with(src__extra__a_dot_cc="")[0])

    def test_client_reaching_into_src(self):
        self.assertIn("only <atb/...>", self.problems_with(cli__main_dot_cc='#include "base/log.h"')[0])
        self.assertIn("only <atb/...>", self.problems_with(examples__cpp__a_dot_cc="#include <base/log.h>")[0])

    def test_upward_cmake_dependency(self):
        problems = self.problems_with(src__ir__CMakeLists_dot_txt="atb_layer(ir DEPENDS atb_base atb_engine)")
        self.assertEqual(problems, ["src/ir/CMakeLists.txt: ir depends on engine, a higher layer"])


if __name__ == "__main__":
    unittest.main()
