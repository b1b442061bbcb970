#!/usr/bin/env bash
# Builds one CMake preset, runs its tests and prints what ran. Usage: scripts/test.sh PRESET [--python] [--long]
# --python also runs tests/python with the package installed in .venv; --long adds the tests that take minutes
# (GoogleTest suites named *Long, pytest's mark `long`).
set -euo pipefail
cd "$(dirname "$0")/.."

readonly preset=$1
readonly build="build/$preset"
readonly reports="$PWD/$build/reports"
readonly jobs=${JOBS:-$(nproc)}
gtest_filter='-*Long.*:*Long/*'
pytest_mark='not long'
with_python=false
for option in "${@:2}"; do
  case "$option" in
    --python) with_python=true ;;
    --long) gtest_filter='*' pytest_mark='' ;;
    *) echo "usage: $0 PRESET [--python] [--long]" >&2; exit 2 ;;
  esac
done

# The thread sanitizer of GCC 12 cannot start under the address layout of newer kernels.
fixed_addresses=()
if [[ "$preset" == tsan ]]; then fixed_addresses=(setarch --addr-no-randomize); fi

cmake --preset "$preset"
cmake --build --preset "$preset" -j "$jobs"

rm -rf "$reports"
mkdir -p "$reports"
# Both suites run to the end; the summary decides.
GTEST_OUTPUT="xml:$reports/gtest/" GTEST_FILTER="$gtest_filter" GTEST_BRIEF=1 \
  "${fixed_addresses[@]}" ctest --preset "$preset" --output-junit "$reports/ctest.xml" \
  --test-output-size-passed 10000000 --no-tests=error || true
if $with_python; then
  ATB_BUILD_DIR="$build" .venv/bin/python -m pytest -q -m "$pytest_mark" --junit-xml "$reports/pytest.xml" || true
fi
python3 scripts/test_summary.py "$reports" $($with_python && echo --expect-python)
