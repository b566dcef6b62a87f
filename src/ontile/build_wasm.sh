#!/usr/bin/env bash
# build_wasm.sh SOURCES WORK [VARIABLE=VALUE]: compiles the port to WORK/port/python.wasm and translates that to WORK/python.c and .h.
# A variable is one of the Makefile's: GC_STRESS=1 for tests of the collector.
set -euo pipefail
port=$(cd "$(dirname "${BASH_SOURCE[0]}")/port" && pwd)
sources=$1 work=$2
# From the start each time: names are numbered for all files together.
rm -rf "$work/port"
# Another clone finds the objects of the first, as with cmake/cached_compiler: it starts from the same folder of its own.
CCACHE_BASEDIR=$(cd "$port/../../.." && pwd)
export CCACHE_BASEDIR CCACHE_NOHASHDIR=1
mkdir -p "$work"
make -C "$port" "TOP=$sources" "BUILD=$work/port" "CCACHE=$(command -v ccache || true)" "${@:3}" >"$work/make.log" 2>&1 || {
  grep -E -A 5 "error|undefined" "$work/make.log" | cut -c 1-300 | head -n 40 >&2
  exit 1
}
wasm2c -n python "$work/port/python.wasm" -o "$work/python.c"
