#!/usr/bin/env bash
# Source this file: then `g++ -std=c++11 program.cpp -lpoplar` compiles, links and runs, and popc and pando are on the PATH.
POPLAR_SDK_ENABLED=$(cd "$(dirname "${BASH_SOURCE[0]:-$0}")" && pwd)
export POPLAR_SDK_ENABLED
export PATH="$POPLAR_SDK_ENABLED/bin${PATH:+:$PATH}"
export CPATH="$POPLAR_SDK_ENABLED/include${CPATH:+:$CPATH}"
export LIBRARY_PATH="$POPLAR_SDK_ENABLED/lib${LIBRARY_PATH:+:$LIBRARY_PATH}"
export LD_LIBRARY_PATH="$POPLAR_SDK_ENABLED/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export CMAKE_PREFIX_PATH="$POPLAR_SDK_ENABLED${CMAKE_PREFIX_PATH:+:$CMAKE_PREFIX_PATH}"
