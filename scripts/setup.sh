#!/usr/bin/env bash
# Prepares this checkout for one make target: Debian packages, the virtual environment .venv, Python packages.
# Usage: scripts/setup.sh build|demo|test|check|bench. Says what it does; does nothing when all is there.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly minimum_cmake=3.25
readonly build_packages="make g++ ninja-build nlohmann-json3-dev libcli11-dev libspdlog-dev libfmt-dev libpcre2-dev
  libutf8proc-dev"
readonly test_packages="libgtest-dev libgmock-dev binutils ccache qemu-user"

# GCC 12 drops stores to the AMX tile configuration of llama.cpp, which then crashes at its first step: clang builds it.
llama_needs_clang() {
  grep -q amx_tile /proc/cpuinfo && (("$(g++ -dumpversion 2> /dev/null || echo 12)" < 13))
}

llama_compiler_packages() {
  if llama_needs_clang; then echo clang libomp-dev; fi
}

packages_for() {
  case "$1" in
    build) echo "$build_packages $test_packages" ;;
    demo) echo "$build_packages" ;;
    test) echo "$build_packages $test_packages" ;;
    check) echo "make g++ clang-format" ;;
    bench) echo "$build_packages libbenchmark-dev $(llama_compiler_packages)" ;;
    *) echo "usage: $0 build|demo|test|check|bench" >&2; return 2 ;;
  esac
}

# The interpreter's own parts: Debian splits venv and the C headers from python3, other builds have them inside.
python_packages() {
  if ! command -v python3 > /dev/null || ! python3 - << 'END' 2> /dev/null; then
import ensurepip, os, sysconfig
raise SystemExit(not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))
END
    echo python3 python3-venv python3-dev
  fi
}

missing_packages() {
  local package
  for package in "$@"; do
    if [[ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2> /dev/null)" != installed ]]; then echo "$package"; fi
  done
}

install_packages() {
  local -a missing
  if ! command -v dpkg-query > /dev/null; then
    echo "setup: not a Debian system, so these have to be there already: $*" >&2
    return
  fi
  mapfile -t missing < <(missing_packages "$@")
  if ((${#missing[@]} == 0)); then return; fi
  local -a as_root=()
  if ((EUID != 0)); then
    if ! sudo -n true 2> /dev/null; then
      echo "setup: packages are missing, please run: sudo apt-get install -y ${missing[*]}" >&2
      exit 1
    fi
    as_root=(sudo)
  fi
  echo "setup: installing Debian packages: ${missing[*]}"
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" \
    > /dev/null
}

has_cmake() {
  command -v cmake > /dev/null || return 1
  local version
  version=$(cmake --version | sed -n '1s/[^0-9]*\([0-9.]*\).*/\1/p')
  [[ "$(printf '%s\n' "$minimum_cmake" "$version" | sort -V | head -n 1)" == "$minimum_cmake" ]]
}

# Installs requirements/<name>.txt unless the stamp says that exactly this was installed before.
install_requirements() {
  local name=$1 stamp
  shift
  stamp=".venv/.installed-$name-$(cat requirements/*.txt | sha256sum | cut -c1-16)"
  if [[ -e "$stamp" ]]; then return; fi
  echo "setup: installing Python packages of requirements/$name.txt into .venv"
  .venv/bin/python -m pip install --quiet --disable-pip-version-check "$@" -r "requirements/$name.txt"
  touch "$stamp"
}

main() {
  local target=${1:-}
  local packages
  packages=$(packages_for "$target")
  # shellcheck disable=SC2046,SC2086  # lists of words
  install_packages $packages $(python_packages)
  if [[ ! -x .venv/bin/python ]]; then
    echo "setup: creating the virtual environment .venv"
    python3 -m venv .venv
  fi
  if [[ "$target" != check ]] && ! PATH="$PWD/.venv/bin:$PATH" has_cmake; then
    echo "setup: installing CMake into .venv (none here is $minimum_cmake or newer)"
    .venv/bin/python -m pip install --quiet --disable-pip-version-check "cmake>=$minimum_cmake"
  fi
  # The other engine of the benchmarks is compiled for this machine, as its users would for speed.
  if [[ "$target" == bench ]]; then
    export CMAKE_ARGS=-DGGML_NATIVE=ON
    if llama_needs_clang; then export CC=clang CXX=clang++; fi
  fi
  install_requirements "$target"
  case "$target" in demo | test | bench) install_requirements model --no-deps ;; esac
}

main "$@"
