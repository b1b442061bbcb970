#!/usr/bin/env bash
# Formats, lints, and the checks of the repository that need no build.
set -euo pipefail
cd "$(dirname "$0")/.."

git ls-files -z '*.cc' '*.h' | xargs -0 -n 50 clang-format --dry-run -Werror
.venv/bin/ruff check .
.venv/bin/ruff format --check .
python3 -B tests/repo/layers_test.py
python3 -B tests/repo/headers_test.py
