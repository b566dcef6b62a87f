#!/usr/bin/env bash
# native.sh SOURCES BUILD: MicroPython for this host as BUILD/micropython, without the parts that need other libraries.
set -euo pipefail
mkdir -p "$2"
make -C "$1/ports/unix" "BUILD=$2" COPT="-O2 -DNDEBUG" STRIP=true FROZEN_MANIFEST= MICROPY_PY_FFI=0 MICROPY_PY_SSL=0 MICROPY_PY_BTREE=0 \
  MICROPY_PY_THREAD=0 >"$2/make.log" 2>&1 || {
  tail -n 20 "$2/make.log" >&2
  exit 1
}
