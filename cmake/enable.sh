#!/usr/bin/env bash
# Source this file: then `g++ -std=c++11 program.cpp -lpoplar` compiles, links and runs, and popc and pando are on the PATH.
POPLAR_SDK_ENABLED=$(cd "$(dirname "${BASH_SOURCE[0]:-$0}")" && pwd)
export POPLAR_SDK_ENABLED
export PATH="$POPLAR_SDK_ENABLED/bin${PATH:+:$PATH}"
export CPATH="$POPLAR_SDK_ENABLED/include${CPATH:+:$CPATH}"
export LIBRARY_PATH="$POPLAR_SDK_ENABLED/lib${LIBRARY_PATH:+:$LIBRARY_PATH}"
export LD_LIBRARY_PATH="$POPLAR_SDK_ENABLED/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export CMAKE_PREFIX_PATH="$POPLAR_SDK_ENABLED${CMAKE_PREFIX_PATH:+:$CMAKE_PREFIX_PATH}"
# In an interactive bash, Tab completes pando. zsh and fish look into share/ of what fpath and XDG_DATA_DIRS name; man finds pando(1) beside PATH.
case $- in
  *i*) if [ -n "${BASH_VERSION:-}" ]; then . "$POPLAR_SDK_ENABLED/share/bash-completion/completions/pando"; fi ;;
esac
