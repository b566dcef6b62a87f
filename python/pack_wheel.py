"""Makes a wheel of an installed component python, without building anything.

    pack_wheel.py FOLDER OUT     writes OUT/<name>-<version>-<tags>.whl of what lies in FOLDER, and prints its path

Name, version and dependencies are those of pyproject.toml. `pip install .` builds the same from the sources, with scikit-build-core.
"""
import base64
import hashlib
import pathlib
import re
import sys
import sysconfig
import zipfile


def project():
    """Strings and lists of strings of the table [project]."""
    text = (pathlib.Path(__file__).resolve().parents[1] / "pyproject.toml").read_text()
    table = text.split("[project]\n", 1)[1].split("\n[", 1)[0]
    fields = dict(re.findall(r'^([a-z-]+) = "(.*)"$', table, re.MULTILINE))
    lists = {name: re.findall(r'"([^"]*)"', items) for name, items in re.findall(r"^([a-z-]+) = \[(.*)\]$", table, re.MULTILINE)}
    return fields, lists


def tags():
    version = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    return f"{version}-{version}-" + sysconfig.get_platform().replace("-", "_").replace(".", "_")


def metadata(fields, lists, tag):
    """{path in the wheel: text}"""
    info = f"{fields['name']}-{fields['version']}.dist-info"
    lines = ["Metadata-Version: 2.1", f"Name: {fields['name']}", f"Version: {fields['version']}", f"Summary: {fields['description']}",
             f"Requires-Python: {fields['requires-python']}", *(f"Requires-Dist: {d}" for d in lists["dependencies"])]
    wheel = ["Wheel-Version: 1.0", "Generator: pack_wheel", "Root-Is-Purelib: false", f"Tag: {tag}"]
    return info, {f"{info}/METADATA": "\n".join(lines) + "\n", f"{info}/WHEEL": "\n".join(wheel) + "\n"}


def record(name, data):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}\n"


def main(folder, out):
    fields, lists = project()
    tag = tags()
    info, texts = metadata(fields, lists, tag)
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"{fields['name']}-{fields['version']}-{tag}.whl"
    files = {str(f.relative_to(folder)): f.read_bytes() for f in sorted(folder.rglob("*")) if f.is_file()}
    files.update((name, text.encode()) for name, text in texts.items())
    lines = "".join(record(name, data) for name, data in files.items()) + f"{info}/RECORD,,\n"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, data in [*files.items(), (f"{info}/RECORD", lines.encode())]:
            # The same bytes for the same contents.
            entry = zipfile.ZipInfo(name, (2000, 1, 1, 0, 0, 0))
            entry.external_attr = (0o755 if ".so" in name else 0o644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data)
    print(path)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
