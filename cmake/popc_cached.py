"""Runs popc for the build, or takes what it made before from the same texts: in another clone, before a change was undone.

    popc_cached.py ROOT KEY POPC ARGUMENTS...

KEY says which popc this is. A call is known by KEY, its arguments and the contents of the files among them, where paths are taken from ROOT; what it
made is believed if the files that popc read then (-MF) have the same contents now. Kept in XDG_CACHE_HOME/pando/build or ~/.cache/pando/build, the
last 2,000 calls. Switch: PANDO_BUILD_CACHE=off.
"""
import hashlib
import json
import os
import pathlib
import subprocess
import sys

MOST_ENTRIES = 2000


def digest(data):
    return hashlib.sha256(data).hexdigest()


def exported(path):
    """What linking reads of a shared library: its symbols."""
    said = subprocess.run(["nm", "-D", "--defined-only", "--format=posix", str(path)], capture_output=True, text=True, check=True).stdout
    return digest(" ".join(sorted(line.split()[0] for line in said.splitlines())).encode())


class Call:
    """One call of popc."""

    def __init__(self, root, key, arguments):
        self.root = root
        self.arguments = arguments
        self.output = self.after("-o")
        self.depfile = self.after("-MF")
        words = [key, self.host()]
        folders = [word[2:] for word in arguments if word.startswith("-L")]
        for word in arguments:
            words.append(word.replace(self.root, "ROOT"))
            if word in (self.output, self.depfile):
                continue
            if os.path.isfile(word):
                words.append(digest(pathlib.Path(word).read_bytes()))
            elif word.startswith("-l"):
                found = [path for folder in folders for path in [pathlib.Path(folder) / f"lib{word[2:]}.so"] if path.is_file()]
                words.append(exported(found[0]) if found else "")
        self.name = digest("\0".join(words).encode())

    def after(self, flag):
        return self.arguments[self.arguments.index(flag) + 1] if flag in self.arguments else None

    def host(self):
        """Code that is for no named levels and no other architecture is for this processor."""
        if any(word.startswith(("--levels", "--triple")) for word in self.arguments):
            return ""
        lines = pathlib.Path("/proc/cpuinfo").read_text().split("\n")
        return "\n".join(sorted({line for line in lines if line.startswith(("flags", "Features", "model name", "cpu family", "model\t"))}))

    def files_read(self):
        """Paths that the rule of the depfile names, from the root where they are below it."""
        if self.depfile is None:
            return []
        names = pathlib.Path(self.depfile).read_text().split(":", 1)[1].replace("\\\n", " ").split()
        return [name.replace(self.root + "/", "ROOT/") for name in names]

    def path(self, name):
        return pathlib.Path(name.replace("ROOT/", self.root + "/"))

    def find(self, folder):
        """Takes a kept output; whether there was one that fits."""
        return any(self.take(entry) for entry in sorted(folder.glob(f"{self.name}-*.json")))

    def take(self, entry):
        try:
            kept = json.loads(entry.read_text())
            if any(digest(self.path(name).read_bytes()) != was for name, was in kept["read"].items()):
                return False
            made = entry.with_suffix(".gp").read_bytes()
            if digest(made) != kept["made"]:
                return False
        except (OSError, ValueError, KeyError):
            return False
        pathlib.Path(self.output).write_bytes(made)
        if self.depfile:
            pathlib.Path(self.depfile).write_text(f"{self.output}:" + "".join(f" \\\n  {self.path(name)}" for name in kept["read"]) + "\n")
        os.utime(entry)
        return True

    def keep(self, folder):
        folder.mkdir(parents=True, exist_ok=True)
        made = pathlib.Path(self.output).read_bytes()
        kept = {"made": digest(made), "read": {name: digest(self.path(name).read_bytes()) for name in self.files_read()}}
        entry = f"{self.name}-{digest(json.dumps(kept['read']).encode())[:16]}"
        for ending, data in (("gp", made), ("json", json.dumps(kept).encode())):
            temporary = folder / f"{entry}.{os.getpid()}"
            temporary.write_bytes(data)
            temporary.replace(folder / f"{entry}.{ending}")
        entries = sorted(folder.glob("*.json"), key=lambda path: path.stat().st_mtime)
        for old in entries[:-MOST_ENTRIES]:
            old.unlink(missing_ok=True)
            old.with_suffix(".gp").unlink(missing_ok=True)


def main(root, key, command):
    popc, arguments = command[:1], command[1:]
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    folder = pathlib.Path(cache) / "pando" / "build"
    call = None
    if os.environ.get("PANDO_BUILD_CACHE") != "off":
        call = Call(root.rstrip("/"), key, arguments)
        if call.find(folder):
            return 0
    status = subprocess.run([*popc, *arguments], check=False).returncode
    if status == 0 and call is not None:
        try:
            call.keep(folder)
        except OSError as error:
            print(f"popc_cached.py: what popc made is not kept: {error}", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
