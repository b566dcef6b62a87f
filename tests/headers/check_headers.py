#!/usr/bin/env python3
"""Compiles every public host header alone (once: the C++ library, and so what is missing, is the same for all compilers), and all together with g++ from
C++11 and clang++ to C++23: syntax only, warnings are errors. What has passed is not
compiled again while headers, compilers and this file are the same (~/.cache/pando/headers; switch: PANDO_BUILD_CACHE=off). Usage: check_headers.py
INCLUDE_DIR [--quick] [--jobs N]; --quick checks the two ends of the range only."""
import argparse
import concurrent.futures
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys

# The device half: compiled by popc with clang, tested there.
DEVICE = {"Vertex.hpp", "InOutTypes.hpp", "VectorTypes.hpp", "HalfFloat.hpp", "QuarterFloat.hpp", "QuarterEdges.hpp", "TileConstants.hpp",
          "StackSizeDefs.hpp", "Loops.hpp", "Alignment.hpp", "FieldTypes.hpp", "VectorListTypes.hpp"}
FLAGS = ["-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only", "-x", "c++", "-"]
# Of packages that are newer than C++11: from C++17 on.
NEWER = ("gccs", "gccs/popsolver", "poplar_test")
# What public programs use without including it.
REACHED = "std::unordered_set<int> numbers; std::unique_ptr<int> pointer; std::vector<std::string> names; std::map<int, std::size_t> sizes;\n"
CLANG = os.environ.get("PANDO_CXX", "clang++")
COMPILERS = [("g++", "c++11"), ("g++", "c++14"), ("g++", "c++17"), ("g++", "c++20"), (CLANG, "c++11"), (CLANG, "c++23")]


def host_headers(include):
    found = []
    for folder in ("poplar", "pva", "pvti", "poputil", "popops", "poplin", "poplin/experimental", "popnn", "popnn/experimental", "poprand", "popfloat/experimental", "gcl"):
        for name in sorted(os.listdir(os.path.join(include, folder))):
            if name.endswith(".hpp") and name not in DEVICE:
                found.append(f"{folder}/{name}")
    return found + ["pando/host.hpp", "pando/steps.hpp"]


def newer_headers(include):
    return [f"{folder}/{name}" for folder in NEWER for name in sorted(os.listdir(os.path.join(include, folder))) if name.endswith(".hpp")]


def compile_text(compiler, standard, include, text):
    command = [compiler, f"-std={standard}", "-I", include] + FLAGS
    return subprocess.run(command, input=text, capture_output=True, text=True)


def passed_before(include, compilers):
    """A file that is there if these headers have passed with these compilers; none if results are not kept."""
    if os.environ.get("PANDO_BUILD_CACHE") == "off":
        return None
    texts = hashlib.sha256(pathlib.Path(__file__).read_bytes())
    for compiler, standard in compilers:
        texts.update(subprocess.run([compiler, "--version"], capture_output=True, check=True).stdout + standard.encode())
    for path in sorted(pathlib.Path(include).rglob("*")):
        if path.is_file():
            texts.update(str(path.relative_to(include)).encode() + b"\0" + path.read_bytes())
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
    return cache / "pando" / "headers" / texts.hexdigest()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("include")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    compilers = [c for c in COMPILERS if shutil.which(c[0])]
    if not compilers:
        sys.exit("no compiler found")
    if options.quick:
        compilers = [compilers[0], compilers[-1]]
    before = passed_before(options.include, compilers)
    if before is not None and before.is_file():
        print("the same headers have passed with the same compilers")
        return
    alone = (CLANG, "c++11") if (CLANG, "c++11") in compilers else compilers[0]
    headers = host_headers(options.include)
    all_text = "".join(f"#include <{h}>\n" for h in headers)
    cases = []
    for compiler, standard in compilers:
        cases.append((compiler, standard, "all headers together", all_text))
        cases.append((compiler, standard, "all headers in reverse", "".join(reversed(all_text.splitlines(True)))))
        if (compiler, standard) == compilers[-1]:
            cases += [(compiler, standard, h, f"#include <{h}>\n#include <{h}>\n") for h in newer_headers(options.include)]
        if (compiler, standard) == alone:
            cases += [(compiler, standard, h, f"#include <{h}>\n#include <{h}>\n") for h in headers]
            cases += [(compiler, standard, h, f"#include <{h}>\n{REACHED}") for h in ("poplar/Graph.hpp", "poplar/Engine.hpp")]
    failures = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = pool.map(lambda c: compile_text(c[0], c[1], options.include, c[3]), cases)
        for (compiler, standard, what, _), result in zip(cases, results):
            if result.returncode != 0:
                failures += 1
                print(f"{compiler} -std={standard}: {what}\n{result.stderr}")
    print(f"{len(cases)} compilations of {len(headers)} headers, {failures} failures")
    if failures == 0 and before is not None:
        before.parent.mkdir(parents=True, exist_ok=True)
        before.touch()
    sys.exit(failures != 0)


if __name__ == "__main__":
    main()
