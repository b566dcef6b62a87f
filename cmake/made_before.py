"""Runs a command of the build, or takes the files that it made before from the same inputs: in another clone, before a change was undone.

    made_before.py ROOT INPUT... -- OUTPUT... -- COMMAND...

INPUT: a file, a folder with all that is in it, or program:NAME, of which the version is what counts. A call is known by its words, in which paths are
taken from ROOT, and by the contents of its inputs. Kept in XDG_CACHE_HOME/pando/made or ~/.cache/pando/made, the last 20 calls. Switch:
PANDO_BUILD_CACHE=off.
"""
import hashlib
import os
import pathlib
import subprocess
import sys
import zlib

MOST_ENTRIES = 20


def digest(data):
    return hashlib.sha256(data).hexdigest()


def texts_of(given):
    """What there is of an input: (name, digest) of each file."""
    if given.startswith("program:"):
        said = subprocess.run([given.removeprefix("program:"), "--version"], capture_output=True, check=True).stdout
        return [(given, digest(said))]
    path = pathlib.Path(given)
    files = [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file() and "__pycache__" not in p.parts)
    if not files:
        sys.exit(f"made_before.py: there is no input {given}")
    return [(str(file), digest(file.read_bytes())) for file in files]


def split(words):
    first = words.index("--")
    second = words.index("--", first + 1)
    return words[:first], words[first + 1:second], words[second + 1:]


def name_of(root, inputs, outputs, command):
    known = [word.replace(root, "ROOT") for word in ["--", *outputs, "--", *command]]
    for given in inputs:
        known += [f"{name.replace(root, 'ROOT')}\0{text}" for name, text in texts_of(given)]
    return digest("\0".join(known).encode())


def take(entry, outputs):
    """Whether all outputs are there, undamaged."""
    try:
        kept = [zlib.decompress((entry / str(i)).read_bytes()) for i in range(len(outputs))]
        if digest(b"".join(kept)) != (entry / "digest").read_text():
            return False
    except (OSError, zlib.error):
        return False
    for output, data in zip(outputs, kept):
        pathlib.Path(output).parent.mkdir(parents=True, exist_ok=True)
        pathlib.Path(output).write_bytes(data)
    os.utime(entry)
    return True


def remove(entry):
    for file in entry.iterdir():
        file.unlink()
    entry.rmdir()


def keep(folder, name, outputs):
    entry = folder / f"{name}.{os.getpid()}"
    entry.mkdir(parents=True)
    made = [pathlib.Path(output).read_bytes() for output in outputs]
    for i, data in enumerate(made):
        (entry / str(i)).write_bytes(zlib.compress(data))
    (entry / "digest").write_text(digest(b"".join(made)))
    if (folder / name).is_dir():
        remove(folder / name)
    entry.rename(folder / name)
    for old in sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime)[:-MOST_ENTRIES]:
        remove(old)


def main(root, words):
    inputs, outputs, command = split(words)
    if os.environ.get("PANDO_BUILD_CACHE") == "off":
        return subprocess.run(command, check=False).returncode
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    folder = pathlib.Path(cache) / "pando" / "made"
    name = name_of(root.rstrip("/"), inputs, outputs, command)
    if take(folder / name, outputs):
        return 0
    status = subprocess.run(command, check=False).returncode
    if status == 0:
        try:
            keep(folder, name, outputs)
        except OSError as error:
            print(f"made_before.py: what was made is not kept: {error}", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
