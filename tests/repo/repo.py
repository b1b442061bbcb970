"""Where things are, for the tests of the repository itself. CMake passes the build folder and the compiler."""

import os
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("ATB_BUILD_DIR", ROOT / "build" / "release"))
CXX = os.environ.get("ATB_CXX", "c++")
CMAKE = os.environ.get("ATB_CMAKE", "cmake")


def write_tree(folder: pathlib.Path, files: dict[str, str]) -> pathlib.Path:
    """Writes a small source tree into `folder`, for tests that feed a checker something bad."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return folder
