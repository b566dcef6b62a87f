"""Makes wheels of what is installed, without building anything.

    pack.py OUT TAG=FOLDER... [--licences FOLDER]    writes OUT/pando-<version>-<tag>.whl of what lies in FOLDER for each, and prints its path

TAG is like cp311-cp311 or cp312-abi3. What a wheel says of itself is pyproject.toml's; the version is CMakeLists.txt's. Texts of licences lie in the
folder of --licences, one file for each part that is compiled into the wheel. `pip install .` builds the same from the sources, with scikit-build-core.
"""
import argparse
import base64
import hashlib
import pathlib
import re
import sysconfig
import tomllib
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def project():
    """The table [project] of pyproject.toml, with the version."""
    table = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    version = re.search(r"^project\(pando VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text(), re.MULTILINE)
    return {**table, "version": version[1]}


def metadata(table, licences):
    """The text of METADATA: Core metadata 2.4."""
    lines = ["Metadata-Version: 2.4", f"Name: {table['name']}", f"Version: {table['version']}", f"Summary: {table['description']}",
             f"Keywords: {','.join(table['keywords'])}", f"License-Expression: {table['license']}",
             *(f"License-File: {name}" for name in licences), *(f"Classifier: {c}" for c in table["classifiers"]),
             f"Requires-Python: {table['requires-python']}", *(f"Requires-Dist: {d}" for d in table["dependencies"])]
    for extra, needs in table["optional-dependencies"].items():
        lines += [f"Provides-Extra: {extra}", *(f'Requires-Dist: {d}; extra == "{extra}"' for d in needs)]
    return "\n".join([*lines, "Description-Content-Type: text/markdown", "", (ROOT / table["readme"]).read_text()])


def record(name, data):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}\n"


def is_executable(name):
    return ".so" in name or re.search(r"(^|/)bin/", name) is not None


def write(table, tag, folder, licences, out):
    """One wheel; its path."""
    tag = f"{tag}-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"
    info = f"{table['name']}-{table['version']}.dist-info"
    files = {str(f.relative_to(folder)): f.read_bytes() for f in sorted(folder.rglob("*")) if f.is_file()}
    files.update((f"{info}/licenses/{name}", data) for name, data in licences.items())
    scripts = "".join(f"{name} = {target}\n" for name, target in table["scripts"].items())
    texts = {"METADATA": metadata(table, licences), "WHEEL": f"Wheel-Version: 1.0\nGenerator: pando\nRoot-Is-Purelib: false\nTag: {tag}\n",
             "entry_points.txt": f"[console_scripts]\n{scripts}"}
    files.update((f"{info}/{name}", text.encode()) for name, text in texts.items())
    lines = "".join(record(name, data) for name, data in files.items()) + f"{info}/RECORD,,\n"
    path = out / f"{table['name']}-{table['version']}-{tag}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, data in [*files.items(), (f"{info}/RECORD", lines.encode())]:
            # The same bytes for the same contents.
            entry = zipfile.ZipInfo(name, (2000, 1, 1, 0, 0, 0))
            entry.external_attr = (0o755 if is_executable(name) else 0o644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data)
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("wheels", nargs="+")
    parser.add_argument("--licences", type=pathlib.Path)
    arguments = parser.parse_args()
    table = project()
    licences = {"LICENSE": (ROOT / "LICENSE").read_bytes()}
    if arguments.licences:
        licences.update((f"third_party/{f.name}", f.read_bytes()) for f in sorted(arguments.licences.iterdir()))
    arguments.out.mkdir(parents=True, exist_ok=True)
    for wheel in arguments.wheels:
        tag, folder = wheel.split("=", 1)
        print(write(table, tag, pathlib.Path(folder), licences, arguments.out))


if __name__ == "__main__":
    main()
