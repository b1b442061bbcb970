"""Writes docs/commands.md from the command's own --help and checks the relative links of every document.

Usage: docs.py, from the repository's root, with the package installed in .venv.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
COMMAND = ROOT / ".venv" / "bin" / "atb"
HEADER = "# Commands\n\nWritten by `make docs` from `atb --help`; change the texts there.\n"
LINK = re.compile(r"\]\((?!\w+:)([^)#\s]+)")


def help_text(*subcommand: str) -> str:
    done = subprocess.run([COMMAND, *subcommand, "--help"], capture_output=True, text=True, check=True)
    return done.stdout.replace(str(COMMAND), "atb").rstrip()


def subcommands(text: str) -> list[str]:
    """The names below the line `Subcommands:`."""
    section = text.partition("Subcommands:")[2]
    return re.findall(r"^  (\w+)", section, re.MULTILINE)


def commands_page() -> str:
    overview = help_text()
    parts = [HEADER, f"\n```text\n{overview}\n```\n"]
    for name in subcommands(overview):
        parts.append(f"\n## atb {name}\n\n```text\n{help_text(name)}\n```\n")
    return "".join(parts)


def broken_links(root: pathlib.Path) -> list[str]:
    documents = [*root.glob("*.md"), *root.glob("docs/**/*.md"), *root.glob("examples/**/*.md")]
    return [
        f"{document.relative_to(root)}: no file {target}"
        for document in sorted(documents)
        for target in LINK.findall(document.read_text())
        if not (document.parent / target).exists()
    ]


def main() -> int:
    (ROOT / "docs" / "commands.md").write_text(commands_page())
    broken = broken_links(ROOT)
    print("\n".join(broken) or "docs/commands.md written, all links lead somewhere")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
