"""The installed library works for a project outside this one: find_package(atb), link, run."""

import pathlib
import subprocess
import tempfile
import unittest

from repo import BUILD, CMAKE, CXX, ROOT

CONSUMER = ROOT / "tests" / "repo" / "consumer"
GENERATE = ROOT / "examples" / "cpp" / "generate.cc"


def run(*command: str | pathlib.Path) -> str:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise AssertionError(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


class ConsumerTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        # Moved after the installation: nothing in the package may remember the prefix.
        installed = pathlib.Path(cls.folder.name) / "installed"
        cls.prefix = pathlib.Path(cls.folder.name) / "moved"
        run(CMAKE, "--install", BUILD, "--component", "development", "--prefix", installed)
        installed.rename(cls.prefix)

    def build(self, source: pathlib.Path) -> pathlib.Path:
        build = pathlib.Path(self.folder.name) / source.stem
        options = [f"-DCMAKE_PREFIX_PATH={self.prefix}", f"-DCMAKE_CXX_COMPILER={CXX}", "-DCMAKE_BUILD_TYPE=Release"]
        run(CMAKE, "-S", CONSUMER, "-B", build, f"-DCONSUMER_SOURCE={source}", *options)
        run(CMAKE, "--build", build)
        return build / "consumer"

    def test_library_links_and_runs(self):
        printed = run(self.build(CONSUMER / "errors.cc"))
        self.assertEqual(printed, "usage: found 1, expected 2 (argument); say 2\n")

    def test_example_builds_in_less_than_40_lines(self):
        self.assertLess(len(GENERATE.read_text().splitlines()), 40)
        self.assertTrue(self.build(GENERATE).is_file())

    def test_package_names_nothing_of_this_machine(self):
        text = "".join(path.read_text() for path in self.prefix.rglob("*.cmake"))
        self.assertNotIn(str(ROOT), text)
        self.assertNotIn(self.folder.name, text)

    def test_every_public_header_is_installed(self):
        wanted = {path.name for path in (ROOT / "include" / "atb").iterdir()}
        self.assertEqual({path.name for path in (self.prefix / "include" / "atb").iterdir()}, wanted)


if __name__ == "__main__":
    unittest.main()
