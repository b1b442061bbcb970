"""Each public header compiles alone, twice in one file, and without a warning."""

import concurrent.futures
import os
import pathlib
import subprocess
import tempfile
import unittest

from repo import CXX, ROOT, write_tree

FLAGS = ["-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-x", "c++", "-"]


def compile_alone(include: pathlib.Path, header: pathlib.Path) -> str:
    """The compiler's words, empty when the header stands on its own."""
    line = f"#include <{header.relative_to(include)}>\n"
    done = subprocess.run([CXX, f"-I{include}", *FLAGS], input=line * 2, capture_output=True, text=True)
    return done.stderr if done.returncode else ""


def broken_headers(include: pathlib.Path) -> dict[str, str]:
    headers = sorted(include.rglob("*.h"))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        words = pool.map(lambda header: compile_alone(include, header), headers)
    return {header.name: text for header, text in zip(headers, words, strict=True) if text}


class HeadersTest(unittest.TestCase):
    def test_public_headers_compile_alone(self):
        self.assertTrue(list((ROOT / "include" / "atb").glob("*.h")))
        self.assertEqual(broken_headers(ROOT / "include"), {})


class SelfCheck(unittest.TestCase):
    def test_faults_are_found(self):
        bad = {
            "atb/needs_include.h": "#pragma once\ninline std::string name() { return {}; }\n",
            "atb/no_guard.h": "struct Twice {};\n",
            "atb/warns.h": "#pragma once\ninline int same(int unused) { return 1; }\n",
            "atb/good.h": "#pragma once\n#include <string>\ninline std::string name() { return {}; }\n",
        }
        with tempfile.TemporaryDirectory() as folder:
            found = broken_headers(write_tree(pathlib.Path(folder), bad))
        self.assertEqual(sorted(found), ["needs_include.h", "no_guard.h", "warns.h"])


if __name__ == "__main__":
    unittest.main()
