"""No code compiled for a higher instruction set can be linked into the baseline.

The linker keeps one of several weak symbols of the same name. An inline function or template that an ISA file
instantiates outside its own namespace could win over the baseline's and crash older CPUs. So every weak symbol of an
object x86_<isa>.cc must lie in a namespace <isa>; and -m flags appear in cmake/isa.cmake only.
"""

import json
import pathlib
import re
import subprocess
import tempfile
import unittest

from repo import BUILD, CXX, ROOT, write_tree

WEAK_KINDS = set("WVu")
OBJECT_NAME = re.compile(r"^x86_(\w+)\.cc\.o$")
# What stands before the first nested name in the Itanium ABI: vtables and the like, guards, locals of functions.
NESTED_PREFIX = re.compile(r"^_Z(?:TV|TI|TS|TT|GV|Z)*N[VKrRO]*")


def namespaces(mangled: str) -> list[str]:
    """The leading plain components of a nested name: _ZN3atb4avx23dotEv gives atb, avx2, dot."""
    start = NESTED_PREFIX.match(mangled)
    rest = mangled[start.end() :] if start else ""
    parts = []
    while digits := re.match(r"\d+", rest):
        end = digits.end() + int(digits.group())
        parts.append(rest[digits.end() : end])
        rest = rest[end:]
    return parts


def is_foreign(mangled: str, isa: str) -> bool:
    """Plain names such as DW.ref.__gxx_personality_v0 are data of the C++ runtime, not code."""
    return mangled.startswith("_Z") and isa not in namespaces(mangled)


def demangle(names: list[str]) -> list[str]:
    done = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def foreign_weak_symbols(object_file: pathlib.Path) -> list[str]:
    isa = OBJECT_NAME.match(object_file.name).group(1)
    done = subprocess.run(["nm", "--defined-only", object_file], capture_output=True, text=True, check=True)
    symbols = [line.split() for line in done.stdout.splitlines()]
    names = [name for _, kind, name in symbols if kind in WEAK_KINDS and is_foreign(name, isa)]
    return [f"{object_file.name}: {text}" for text in demangle(names)] if names else []


def isa_objects(build: pathlib.Path) -> list[pathlib.Path]:
    return sorted(path for path in build.rglob("x86_*.cc.o") if OBJECT_NAME.match(path.name))


def machine_flags(command: str) -> set[str]:
    return set(re.findall(r"(?<=\s)-m[a-z][\w.=-]*", command))


def misplaced_flags(root: pathlib.Path, commands: list[dict]) -> list[str]:
    """Compilations whose -m flags are not those that cmake/isa.cmake gives to the file's name."""
    problems = []
    for entry in commands:
        path = pathlib.Path(entry["file"])
        if root not in path.parents:
            continue
        isa = re.match(r"x86_\w+$", path.stem)
        if bool(isa) != bool(machine_flags(entry["command"])):
            problems.append(f"{path.relative_to(root)}: {'no ' if isa else ''}ISA flags in its compile command")
    return problems


BUILD_FILE = re.compile(r"CMakeLists\.txt|.*\.cmake|Makefile|.*\.sh|pyproject\.toml|CMakePresets\.json")
SOURCE_FILE = re.compile(r".*\.(cc|h|inc)")
ISA_FLAG = re.compile(r"(?<![\w-])-m(?:arch|tune|cpu|avx|fma|f16c|sse|ssse|amx|bmi|popcnt|lzcnt|prefer)[\w.=-]*")
ISA_PRAGMA = re.compile(r"#\s*pragma\s+GCC\s+target|__attribute__\s*\(\(\s*target|\[\[gnu::target")


def written_flags(root: pathlib.Path) -> list[str]:
    """The files of the repository that spell an ISA flag, other than cmake/isa.cmake."""
    problems = []
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root)
        if not path.is_file() or name.parts[0] in ("build", ".venv", ".git") or name.as_posix() == "cmake/isa.cmake":
            continue
        pattern = (
            ISA_FLAG if BUILD_FILE.fullmatch(path.name) else ISA_PRAGMA if SOURCE_FILE.fullmatch(path.name) else None
        )
        if pattern and (found := pattern.search(path.read_text())):
            problems.append(f"{name}: {found.group()}")
    return problems


class IsaSymbolsTest(unittest.TestCase):
    def test_weak_symbols_stay_in_their_isa(self):
        objects = isa_objects(BUILD)
        self.assertTrue(objects, f"no objects of x86_*.cc files under {BUILD}: build first")
        self.assertEqual([line for path in objects for line in foreign_weak_symbols(path)], [])

    def test_only_isa_files_are_compiled_with_isa_flags(self):
        commands = json.loads((BUILD / "compile_commands.json").read_text())
        self.assertEqual(misplaced_flags(ROOT, commands), [])

    def test_flags_are_written_in_isa_cmake_only(self):
        self.assertEqual(written_flags(ROOT), [])


class SelfCheck(unittest.TestCase):
    """The checkers find each kind of fault."""

    BAD = """
        #include <algorithm>
        namespace atb { inline int shared(int x) { return x + 1; } }
        namespace atb::avx2 {
        inline int own(int x) { return shared(x); }
        template <class T> T most(const T* x, T y) { return std::max(*x, y); }
        int kernel(int* x) { static int calls = 0; return own(++calls) + most(x, *x); }
        }
    """

    def test_weak_symbol_outside_the_namespace_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            source = write_tree(pathlib.Path(folder), {"x86_avx2.cc": self.BAD}) / "x86_avx2.cc"
            target = source.with_suffix(".cc.o")
            subprocess.run([CXX, "-std=c++20", "-O0", "-c", source, "-o", target], check=True)
            found = sorted(foreign_weak_symbols(target))
        self.assertEqual(len(found), 2, found)
        self.assertIn("atb::shared(int)", found[0])
        self.assertIn("std::max<int>", found[1])

    def test_names_are_read_from_their_outer_namespace(self):
        self.assertEqual(namespaces("_ZN3atb4avx23dotEv"), ["atb", "avx2", "dot"])
        self.assertEqual(namespaces("_ZTVN3atb4avx24TileE"), ["atb", "avx2", "Tile"])
        self.assertEqual(namespaces("_ZZN3atb4avx23runEvENKUlvE_clEv"), ["atb", "avx2", "run"])
        self.assertTrue(is_foreign("_ZSt3maxIN3atb4avx21TEET_S3_S3_", "avx2"))
        self.assertTrue(is_foreign("_ZN3atb6avx5123dotEv", "avx2"))
        self.assertFalse(is_foreign("DW.ref.__gxx_personality_v0", "avx2"))

    def test_misplaced_flags_are_found(self):
        root = pathlib.Path("/r")
        commands = [
            {"file": "/r/src/a.cc", "command": "c++ -mavx2 -c a.cc"},
            {"file": "/r/src/x86_avx2.cc", "command": "c++ -O3 -c x86_avx2.cc"},
            {"file": "/r/src/x86_avx512.cc", "command": "c++ -mavx512f -c x86_avx512.cc"},
            {"file": "/r/src/b.cc", "command": "c++ -I/some/x-mavx -c b.cc"},
        ]
        self.assertEqual(len(misplaced_flags(root, commands)), 2)

    def test_written_flags_are_found(self):
        files = {
            "cmake/isa.cmake": "set(FLAGS -mavx2)",
            "cmake/other.cmake": "add_compile_options(-march=native)",
            "Makefile": "all:\n\tpython3 -m venv .venv\n",
            "src/a.cc": '#pragma GCC target("avx2")',
            "src/b.cc": "// -mavx2 is said, not used",
        }
        with tempfile.TemporaryDirectory() as folder:
            found = written_flags(write_tree(pathlib.Path(folder), files))
        self.assertEqual(found, ["cmake/other.cmake: -march=native", "src/a.cc: #pragma GCC target"])


if __name__ == "__main__":
    unittest.main()
