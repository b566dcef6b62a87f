"""Collects the licences of all that is inside a wheel.

    licences.py FOLDER OUT     FOLDER is what a wheel will hold; writes OUT/NAME.txt for each part

The parts are those of TABLE, which are compiled in, and each library of the system that a file in FOLDER loads and a wheel has to bring, with the
licence of the Debian package that it comes from. A licence that cannot be found is an error.
"""
import pathlib
import re
import subprocess
import sys
import sysconfig

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Part: where its licence lies. A Debian package by its name; a file below the root of the repository or the site-packages of this Python, as a pattern.
TABLE = {
    "fmt": "libfmt-dev",
    "nlohmann_json": "nlohmann-json3-dev",
    "cli11": "libcli11-dev",
    "libxsmm": "libxsmm-dev",
    "highway": "libhwy-dev",
    "wabt": "wabt",
    "wasi-libc": "wasi-libc",
    "compiler-rt": "libclang-rt-19-dev-wasm32",
    "micropython": "build/sources/micropython/LICENSE",
    "nanobind": "nanobind-*.dist-info/**/LICENSE",
    "robin_map": "nanobind/ext/robin_map/include/tsl/robin_map.h",
}
# What every system has that manylinux tags are for.
OF_THE_SYSTEM = re.compile(r"^(linux-vdso|ld-linux|lib(c|m|dl|rt|pthread|util|stdc\+\+|gcc_s|resolv|nsl)\.so)")


def of_package(name):
    """The copyright file of a Debian package, or None."""
    path = pathlib.Path("/usr/share/doc") / name.split(":")[0] / "copyright"
    return path if path.is_file() else None


def find(where):
    folders = (ROOT, pathlib.Path(sysconfig.get_paths()["purelib"]))
    return of_package(where) or next((f for folder in folders for f in sorted(folder.glob(where)) if f.is_file()), None)


def loaded(folder):
    """{name of a library outside of the folder: where the dynamic linker finds it}"""
    found = {}
    for file in sorted(folder.rglob("*")):
        if not file.is_file() or file.read_bytes()[:4] != b"\x7fELF":
            continue
        said = subprocess.run(["ldd", str(file)], capture_output=True, text=True, check=True).stdout
        for name, path in re.findall(r"^\s*(\S+) => (\S+) \(", said, re.MULTILINE):
            if not OF_THE_SYSTEM.match(name) and folder.resolve() not in pathlib.Path(path).resolve().parents:
                found[name] = pathlib.Path(path)
    return found


def package_of(path):
    for spelled in (path, path.resolve()):
        said = subprocess.run(["dpkg", "-S", str(spelled)], capture_output=True, text=True, check=False).stdout
        if said:
            return said.split(": ")[0]
    return None


def main(folder, out):
    out.mkdir(parents=True, exist_ok=True)
    texts = {part: find(where) for part, where in TABLE.items()}
    for name, path in loaded(folder).items():
        package = package_of(path)
        texts[name] = of_package(package) if package else None
    missing = [part for part, text in texts.items() if text is None]
    if missing:
        sys.exit(f"licences.py: no licence was found of {', '.join(missing)}; each part needs one (see TABLE in {__file__})")
    for part, text in texts.items():
        (out / f"{part}.txt").write_bytes(text.read_bytes())
        print(f"{part}: {text}")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
