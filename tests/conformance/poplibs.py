"""Builds PopLibs from an untouched checkout against the component `poplar` alone, and runs its tests. Which release it is, its files tell:
sdk-release-2.0 or sdk-release-3.4, each with lists and a build of its own.

The build stays in --work: the next run goes on from there. A test counts for the folder of tests/ that adds it, and for its device variant,
which is the first word of its name. Comparisons with stored cycle counts of the original (label `benchmarks`) are left out, and what PopLibs'
lists disable. What cannot pass is named in poplibs.reasons (of 3.4: poplibs34.reasons); a failure without a reason is an error, in libraries
that the list knows.

  ./x conformance poplibs --from DIR                            everything
  ./x conformance poplibs --from DIR --libraries popops --quick a tenth of what is expected of popops; builds only what that needs
  ./x conformance poplibs --from DIR --libs ours                the same tests, compiled and linked against this project's op libraries

With --libs ours much cannot be built or run: tests of PopLibs' own headers and vertices. What passes is in poplibs.ours, why the rest does
not in poplibs.ours.reasons; --quick takes a tenth of what is expected of theirs, too.
"""
import argparse
import collections
import dataclasses
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree

import expectations

HERE = pathlib.Path(__file__).resolve().parent
# In the order in which they need each other. What each adds to the build, besides the programs that its tests name (of tools/, too); programs
# read the codelets of other libraries, which the build does not know.
LIBRARIES = {
    "poplibs_support": ["lib/poplibs_support/all", "tests/poplibs_support/all"],
    "poputil": ["lib/poputil/all", "lib/popops/popops.gp", "tests/poputil/all"],
    "popops": ["lib/popops/all", "lib/poplin/poplin.gp", "lib/popnn/popnn.gp", "tests/popops/all"],
    "poprand": ["lib/poprand/all", "lib/popops/popops.gp", "tests/poprand/all"],
    "poplin": ["lib/poplin/all", "lib/popops/popops.gp", "lib/poprand/poprand.gp", "tests/poplin/all"],
    "popnn": ["lib/popnn/all", "lib/popops/popops.gp", "lib/poprand/poprand.gp", "lib/poplin/poplin.gp", "tests/popnn/all"],
    "popfloat": ["lib/popfloat/all", "lib/popops/popops.gp", "tests/popfloat/all"],
    "sanity": ["tests/sanity/all", "tools/consistent_executable_tool"],
}

ZOLTANS = "popsparse"  # the library that is there only where Zoltan is
HEADERS = HERE / "poplibs_headers"  # what newer libraries have no longer, or elsewhere


@dataclasses.dataclass
class Release:
    """name: of the branch; mark: a file that it alone has; stem: of its lists here; folder: of --work; file_flags: {source: more flags}"""

    name: str
    mark: str
    stem: str
    folder: str
    libraries: dict
    definitions: dict
    file_flags: dict

    def list_of(self, kind):
        return HERE / f"{self.stem}.{kind}"


RELEASES = [
    Release("sdk-release-2.0", "include/popsolver/Model.hpp", "poplibs", "",
            {"poplibs_support": LIBRARIES["poplibs_support"], "popsolver": ["lib/popsolver/all", "tests/popsolver/all"], **LIBRARIES,
             ZOLTANS: ["lib/popsparse/all", "tests/popsparse/all"]},
            {"BUILD_SHARED_LIBS": "ON",
             "TBB_INCLUDE_DIRS": "/usr/include"},  # its module looks for a header that oneTBB has no longer
            {"tools/topk.cpp": f"-include {HEADERS}/topk.hpp"}),
    Release("sdk-release-3.4", "include/poplin/experimental/LuFactorization.hpp", "poplibs34", "sdk-release-3.4",
            {"poplibs_support": LIBRARIES["poplibs_support"], "poplibs_test": ["lib/poplibs_test/all", "tests/poplibs_test/all"], **LIBRARIES,
             ZOLTANS: ["lib/popsparse/all", "tests/popsparse/all"]},
            # Its op libraries are shared in any case. Its test helpers and the programs would each have a copy of poplibs_support's globals.
            {"BUILD_SHARED_LIBS": "OFF", "Boost_USE_STATIC_LIBS": "OFF", "Boost_USE_STATIC_RUNTIME": "OFF"},
            {"tools/src/conv_analysis.cpp": f"-idirafter {HEADERS}",  # spdlog's copy of fmt
             "tests/poplin/ConvExpandDimsVertexTest.cpp": f"-include {HEADERS}/array_format.hpp",
             **{f"lib/poplin/{name}.cpp": f"-include {HEADERS}/format_literal.hpp" for name in ("Convolution", "ConvParams", "ConvPlan")}}),
]
# What the sources want of compilers and libraries that are newer than they are.
FLAGS = {
    "-include limits": "newer standard libraries' headers no longer bring <limits> with others",
    "-DFMT_DEPRECATED_OSTREAM": "fmt 9 formats what has operator<< only if asked",
    "-Wno-narrowing": "braces around longer integers: an error with -pedantic-errors",
    "-Wno-error": "of newer warnings ...",
    "-Wno-error=deprecated-declarations": "... std::iterator",
    "-Wno-error=range-loop-construct": "... copies in loops",
}
DEFINITIONS = {
    "CMAKE_BUILD_TYPE": "Release",
    "CMAKE_CXX_FLAGS_RELEASE": "-O1 -DNDEBUG",  # compiles in two thirds of the time
    "POPLIBS_ENABLED_IPU_ARCH_NAMES": "cpu",  # of codelets: all targets run host code
    "POPLIBS_ENABLED_IPU_ARCH_TEST_VARIANTS": "cpu;ipu2",
    "CMAKE_PROJECT_INCLUDE": str(HERE / "poplibs.cmake"),  # flags of single files
}
NOT_THERE = "its program is not there"
ZOLTAN = "libtrilinos-zoltan-dev"
PACKAGES = pathlib.Path(__file__).with_name("poplibs_packages.txt")


def release_of(source):
    for release in RELEASES:
        if (pathlib.Path(source) / release.mark).exists():
            return release
    sys.exit(f"{source} is not a checkout of PopLibs that is known: " + "; ".join(f"{r.name} has {r.mark}" for r in RELEASES))


def arguments(words=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--from", dest="source", required=True, help="a checkout of graphcore/poplibs, branch " + " or ".join(r.name for r in RELEASES))
    parser.add_argument("--prefix", required=True, help="an installed Pando, in its build tree")
    parser.add_argument("--work", required=True, help="a folder for the build and results; kept")
    parser.add_argument("--libraries", help="some of: " + "; ".join(f"{' '.join(r.libraries)} ({r.name})" for r in RELEASES))
    parser.add_argument("--libs", choices=["theirs", "ours"], default="theirs", help="the op libraries that are tested")
    parser.add_argument("--quick", action="store_true", help="every tenth of the tests that are expected to pass")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=int, default=300, help="limit of one test")
    parser.add_argument("--no-build", action="store_true", help="run what is built")
    parser.add_argument("--update", action="store_true", help="add what newly passes to the list of what is expected")
    parsed = parser.parse_args(words)
    parsed.release = release_of(parsed.source)
    if parsed.libs == "ours" and not parsed.release.list_of("ours").exists():
        sys.exit(f"--libs ours: there is no list of what passes of {parsed.release.name} with this project's op libraries")
    parsed.work = pathlib.Path(parsed.work).resolve() / parsed.release.folder / ("ours" if parsed.libs == "ours" else "")
    parsed.libraries = parsed.libraries.split(",") if parsed.libraries else list(parsed.release.libraries)
    unknown = [name for name in parsed.libraries if name not in parsed.release.libraries]
    if unknown:
        sys.exit(f"unknown libraries: {' '.join(unknown)}; {parsed.release.name} has {' '.join(parsed.release.libraries)}")
    return parsed


def logged(command, log, environment=None):
    """True if it succeeds."""
    with open(log, "wb") as out:
        return subprocess.run([str(c) for c in command], stdout=out, stderr=subprocess.STDOUT, env=environment).returncode == 0


def install_components(prefix, work, components):
    """The component `poplar` alone is without our op libraries and their headers."""
    target = work / "poplar"
    shutil.rmtree(target, ignore_errors=True)
    tree = pathlib.Path(prefix).resolve().parent
    for component in components:
        if not logged(["cmake", "--install", tree, "--prefix", target, "--component", component], work / "install.log"):
            sys.exit(f"could not install the component {component} of {tree}: {work / 'install.log'}")
    return target


def forget_stale(work, include):
    """Our op libraries' headers stand before PopLibs' own. One that there was not before changes what an #include finds, which neither ninja
    nor ccache (in its direct mode) sees: then all is built again."""
    names = sorted(str(header.relative_to(include)) for header in include.glob("pop*/**/*.hpp"))
    seen = work / "op_headers.txt"
    if not seen.exists() or seen.read_text().split() != names:
        shutil.rmtree(work / "build", ignore_errors=True)
        seen.write_text("\n".join(names) + "\n")


def forget_codelets(work, prefix):
    """PopLibs' build does not know that a .gp depends on popc and on the headers that popc gives to codelets: another popc compiles all again."""
    digest = hashlib.sha256()
    for file in [prefix / "bin/popc", *sorted(file for file in (prefix / "include").rglob("*") if file.is_file())]:
        digest.update(f"{file.relative_to(prefix)}\n".encode() + file.read_bytes())
    seen = work / "popc.sha256"
    if not seen.exists() or seen.read_text() != digest.hexdigest():
        for codelets in (work / "build").rglob("*.gp"):
            codelets.unlink()
        seen.write_text(digest.hexdigest())


def configure(source, work, release, libraries, ours, environment):
    prefix = environment["POPLAR_SDK_ENABLED"]
    definitions = dict(DEFINITIONS, **release.definitions, PANDO_LIBRARIES=prefix if ours else "", CMAKE_CXX_FLAGS=" ".join(FLAGS),
                       PANDO_ZOLTAN="ON" if ZOLTANS in libraries and not ours else "OFF",
                       CMAKE_PREFIX_PATH=prefix, PANDO_FILE_FLAGS=";".join(f"{file}={flags}" for file, flags in release.file_flags.items() if parts_of([file], ours)))
    if shutil.which("ccache"):
        definitions["CMAKE_CXX_COMPILER_LAUNCHER"] = "ccache"
    command = ["cmake", "-G", "Ninja", "-S", source, "-B", work / "build", *(f"-D{k}={v}" for k, v in definitions.items())]
    if not logged(command, work / "configure.log", environment):
        sys.exit(f"PopLibs does not configure: {work / 'configure.log'}; {PACKAGES.name} names the packages that it needs")
    print("flags: " + "; ".join(f"{flag} ({why})" for flag, why in FLAGS.items()))
    print("flags of single files: " + "; ".join(f"{file} {flags}" for file, flags in release.file_flags.items()))


def parts_of(parts, ours):
    """What is built of them: with our libraries, no op library of theirs."""
    theirs = re.compile(r"lib/(poputil|popops|poprand|poplin|popnn|popfloat|popsparse)/")
    return [part for part in parts if not (ours and theirs.match(part))]


TEXT = r'"(?:[^"\\]|\\.)*"'  # may be several lines
ADD_TEST = rf"^add_test\((?:\[=*\[)?(.*?)(?:\]=*\])?((?:\s+{TEXT})+)\)"


def programs_of(folder):
    """{test: programs of the build that its command names}, from ctest's own files: ctest names none that is not built."""
    programs = {}
    for file in sorted(folder.rglob("CTestTestfile.cmake")):
        for name, command in re.findall(ADD_TEST, file.read_text(), re.M):
            words = [word[1:-1] for word in re.findall(TEXT, command)]
            programs[name] = [word[len(f"{folder}/"):] for word in words if word.startswith(f"{folder}/")]
    return programs


def wanted(parts, tests, programs, quick, ours):
    """What is built for tests of a library with these parts: with --quick no program that none of them runs."""
    if quick and not tests:
        return []
    kept = [part for part in parts_of(parts, ours) if part.startswith(("lib/", "tools/")) or not quick]
    return kept + sorted({program for test in tests for program in programs.get(test, [])})


def build(parts, work, jobs, environment):
    """parts: {library: targets}"""
    listing = subprocess.run(["ninja", "-C", work / "build", "-t", "targets", "all"], stdout=subprocess.PIPE, text=True, env=environment,
                             check=True)
    known = set(re.findall(r"^(.*): \S+$", listing.stdout, re.M))
    for name, targets in parts.items():
        targets = [target for target in targets if target in known]
        log = work / f"build-{name}.log"
        if targets and not logged(["nice", "-n", "10", "ninja", "-C", work / "build", "-j", jobs, "-k", "0", *targets], log, environment):
            failed = re.findall(r"^FAILED: (\S+)", log.read_text(errors="replace"), re.M)
            print(f"{name}: {len(failed)} parts of the build failed, all of it in {log}: {' '.join(failed[:10])}")


def library_of(entry, files, nodes):
    """The folder below tests/ whose list adds the test."""
    node = nodes[entry["backtrace"]]
    while "parent" in node:
        node = nodes[node["parent"]]
    found = re.search(r"/tests/(\w+)/", files[node["file"]])
    return found.group(1) if found else ""


def short(name):
    """Of compilers in tests' names, not where they are."""
    return re.sub(r"-/(?:[^/ ]+/)+", "-", name)


def read_tests(listing):
    """{library: [(number, short name)]} of ctest's JSON; numbers count from 1. Without comparisons of cycle counts and what PopLibs' lists
    disable."""
    graph = listing["backtraceGraph"]
    tests = collections.defaultdict(list)
    for number, entry in enumerate(listing["tests"], 1):
        properties = {p["name"]: p["value"] for p in entry.get("properties", [])}
        library = library_of(entry, graph["files"], graph["nodes"])
        if "benchmarks" not in properties.get("LABELS", []) and not properties.get("DISABLED") and library:
            tests[library].append((number, short(entry["name"])))
    return dict(tests)


def variant_of(name):
    found = re.match(r"(NoTarget|Cpu|IpuModel\d+)_", name)
    return found.group(1) if found else "NoTarget"


def outcome_of(case):
    """None, or what went wrong."""
    failure, skipped = case.find("failure"), case.find("skipped")
    if skipped is not None or case.get("status") in ("notrun", "disabled"):
        return NOT_THERE + ": " + ((skipped.get("message") if skipped is not None else None) or "not run")
    if failure is None and case.get("status") == "run":
        return None
    lines = [line for line in (case.findtext("system-out") or "").splitlines() if line.strip()]
    telling = [line for line in lines if re.search(r"error|terminate|what\(\)|mismatch|[Ff]ail|exceed", line)]
    why = (failure.get("message") if failure is not None else "") or "fails"
    return f"{why}: {(telling or lines or [''])[0].strip()[:200]}"


def run_tests(numbers, work, jobs, seconds, environment):
    """{short name: outcome}"""
    if not numbers:
        return {}
    results, chosen = work / "results.xml", work / "numbers"
    chosen.write_text(",".join(str(n) for n in [numbers[0], numbers[0], 1, *numbers[1:]]) + "\n")
    results.unlink(missing_ok=True)
    logged(["ctest", "--test-dir", work / "build", "-j", jobs, "-I", chosen, "--timeout", seconds, "--output-junit", results,
            "--test-output-size-failed", "4000", "--output-on-failure"], work / "ctest.log", environment)
    if not results.exists():
        sys.exit(f"ctest wrote no results: {work / 'ctest.log'}")
    return {short(case.get("name")): outcome_of(case) for case in xml.etree.ElementTree.parse(results).getroot().iter("testcase")}


def as_installed(environment, source, work):
    """A test compiles a program that names PopLibs' headers and libraries and not where they are: compilers look there as if it were installed."""
    libraries = sorted({str(library.parent) for library in (work / "build/lib").glob("*/*.so")})
    more = {"CPATH": [str(source / "include")], "LIBRARY_PATH": libraries, "LD_RUN_PATH": libraries}
    return {**environment, **{name: ":".join([*filter(None, [environment.get(name)]), *paths]) for name, paths in more.items()}}


def tenth(cases):
    return set(sorted(cases)[::10])


def print_counts(results):
    counts = collections.defaultdict(lambda: [0, 0])
    for case, message in results.items():
        library, name = case.split("/", 1)
        counts[library, variant_of(name)][0] += message is None
        counts[library, variant_of(name)][1] += 1
    for (library, variant), (passed, all_of_it) in sorted(counts.items()):
        print(f"{library:16} {variant:10} {passed:5} of {all_of_it} pass")


def list_tests(work, environment):
    done = subprocess.run(["ctest", "--test-dir", str(work / "build"), "--show-only=json-v1"], stdout=subprocess.PIPE, env=environment, check=True)
    return read_tests(json.loads(done.stdout))


def judge(results, expected, mine, options):
    """(lines to print, exit status)"""
    ours = options.libs == "ours"
    reasons = [(p, r) for p, r in expectations.read_reasons(options.release.list_of("ours.reasons" if ours else "reasons")) if p.startswith(mine)]
    # Programs that could not be built are reported where they are built, but with our libraries, which some cannot be linked with: that has its
    # reasons, too. Libraries that have no line in the list are only counted.
    listed = {case.split("/", 1)[0] for case in expected}
    judged = {case: message for case, message in results.items()
              if case.split("/", 1)[0] in listed and (ours or NOT_THERE not in (message or ""))}
    _, errors = expectations.apply_reasons(judged, reasons, expected)
    with_reasons, _ = expectations.apply_reasons(results, reasons, expected)
    lines, status = expectations.judge(with_reasons, expected)
    if options.quick or not errors:
        return lines, status
    return lines[:-1] + errors + lines[-1:], 1


def add_passing(file, results):
    comments = [line for line in file.read_text().splitlines() if line.startswith("#")]
    passing = expectations.read(file) | {case for case, message in results.items() if message is None}
    file.write_text("".join(f"{line}\n" for line in comments + sorted(passing)))


def main():
    options = arguments()
    sys.stdout.reconfigure(line_buffering=True)
    options.work.mkdir(parents=True, exist_ok=True)
    ours = options.libs == "ours"
    environment = expectations.user_environment(install_components(options.prefix, options.work, ["poplar", "poplibs"] if ours else ["poplar"]))
    installed = pathlib.Path(environment["POPLAR_SDK_ENABLED"])
    if not options.no_build:
        forget_codelets(options.work, installed)
    if ours and not options.no_build:
        forget_stale(options.work, installed / "include")
        environment["CCACHE_NODIRECT"] = "1"
    if not options.no_build:
        configure(pathlib.Path(options.source).resolve(), options.work, options.release, options.libraries, ours, environment)
    theirs_file = options.release.list_of("expected")
    expected_file = options.release.list_of("ours") if ours else theirs_file
    tests = list_tests(options.work, environment)
    if ZOLTANS in options.libraries and ZOLTANS not in tests and not ours:
        print(f"{ZOLTANS}: left out, as it needs Zoltan, which is not here (Debian package {ZOLTAN})")
        options.libraries.remove(ZOLTANS)
    mine = tuple(name + "/" for name in options.libraries)
    listed = {file: {case for case in expectations.read(file) if case.startswith(mine)} for file in {expected_file, theirs_file}}
    expected = listed[expected_file]
    cases = {f"{library}/{name}": number for library in options.libraries for number, name in tests.get(library, [])}
    if options.quick:
        chosen = set().union(*(tenth(list_) for list_ in listed.values()))
        expected = expected & chosen
        cases = {case: number for case, number in cases.items() if case in chosen}
    if not options.no_build:
        programs = programs_of(options.work / "build")
        chosen = {library: [case.split("/", 1)[1] for case in cases if case.startswith(library + "/")] for library in options.libraries}
        build({library: wanted(options.release.libraries[library], chosen[library], programs, options.quick, ours) for library in options.libraries},
              options.work, options.jobs, environment)
    outcomes = run_tests(sorted(cases.values()), options.work, options.jobs, options.seconds,
                         as_installed(environment, pathlib.Path(options.source).resolve(), options.work))
    results = {case: outcomes.get(case.split("/", 1)[1], "ctest says nothing of it") for case in cases}
    print_counts(results)
    if options.update:
        add_passing(expected_file, results)
    lines, status = judge(results, expected, mine, options)
    print("\n".join(line for line in lines if not line.startswith("pass") or "(new" in line))
    sys.exit(status)


if __name__ == "__main__":
    main()
