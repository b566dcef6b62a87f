"""./x wheel: wheels for the Pythons that are here, tagged for old systems, each tried in an environment of its own.

    make.py BUILD [--processors NAME,NAME...]

BUILD is the release build's folder. Wheels are made for CPython 3.9, 3.10, 3.11 and, with the stable ABI, for 3.12 and all later ones; interpreters are
looked for in PATH and in ~/.pyenv/versions. Each wheel runs tests/python/smoke.py where neither compiler nor tools are in reach, on this processor and, if
qemu-x86_64 is there (Debian: qemu-user), on the processors of --processors.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
VERSIONS = [(3, minor) for minor in range(9, 14)]
PROBE = ("import sys, sysconfig, os; v = sys.version_info; "
         "print(v[0], v[1], sys.implementation.name, os.path.isfile(os.path.join(sysconfig.get_paths()['include'], 'Python.h')))")


def say(text):
    print(f"wheel: {text}", file=sys.stderr, flush=True)


class Steps:
    """Runs commands, with what they print in build/log/wheel.log."""

    def __init__(self, build):
        self.build = build
        self.path = build / "log" / "wheel.log"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.log = self.path.open("w")

    def run(self, *command, what=None, **options):
        """What the command prints. If it fails, the end of that, and the end of this program."""
        words = [str(word) for word in command]
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **options)
        self.log.write(f"$ {' '.join(words)}\n{done.stdout}\n")
        self.log.flush()
        if done.returncode != 0:
            sys.exit(f"{done.stdout[-3000:]}\nwheel: {what or words[0]} failed with status {done.returncode} (all of it in {self.path})")
        return done.stdout


def interpreters():
    """{(major, minor): path} of each CPython with its headers."""
    found = {}
    for version in VERSIONS:
        name = f"python{version[0]}.{version[1]}"
        pyenv = sorted(pathlib.Path.home().glob(f".pyenv/versions/{version[0]}.{version[1]}.*/bin/{name}"))
        for candidate in [shutil.which(name), "/usr/bin/" + name, *pyenv]:
            if candidate is None or not os.path.exists(candidate):
                continue
            said = subprocess.run([candidate, "-c", PROBE], capture_output=True, text=True, check=False).stdout.split()
            if said == [str(version[0]), str(version[1]), "cpython", "True"]:
                found[version] = pathlib.Path(candidate)
                break
    return found


def tag_of(version):
    return "cp312-abi3" if version >= (3, 12) else "cp{0}{1}-cp{0}{1}".format(*version)


def folder_of(tag):
    return "cp312_abi3" if tag.endswith("abi3") else tag.split("-")[0]


def build_cores(steps, chosen):
    """The native part for each interpreter of `chosen`."""
    nanobind = steps.build / "wheels" / "nanobind"
    pip = [steps.build / "venv" / "bin" / "python", "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps", "--upgrade"]
    wanted = re.search(r"^nanobind==.*$", (ROOT / "python" / "requirements.txt").read_text(), re.MULTILINE)[0]
    steps.run(*pip, "--target", nanobind / "new", wanted)
    steps.run(*pip, "--target", nanobind / "old", "-r", HERE / "nanobind_old.txt")
    steps.run("cmake", "-S", ROOT, "-B", steps.build, f"-DPANDO_WHEEL_PYTHONS={';'.join(map(str, chosen))}", what="configuring")
    say(f"building for {len(chosen)} Pythons, and codelets for every level of processors")
    steps.run("ninja", "-C", steps.build, "wheel_parts", "wheel_cores", what="the build")


def pack(steps, tags):
    """Wheels with tags of old systems; their paths."""
    work = steps.build / "wheel"
    shutil.rmtree(work, ignore_errors=True)
    parts = work / "parts"
    steps.run("cmake", "--install", steps.build, "--strip", "--prefix", parts, "--component", "python")
    python = steps.build / "venv" / "bin" / "python"
    steps.run(python, HERE / "licences.py", parts, work / "licences", what="collecting licences")
    for tag in tags:
        folder = work / folder_of(tag)
        shutil.copytree(parts, folder)
        (core,) = (steps.build / "wheel_cores" / folder_of(tag)).glob("_core.*")
        shutil.copy(core, folder / "popxl")
        steps.run("strip", "--strip-unneeded", folder / "popxl" / core.name)
    raw = work / "raw"
    made = steps.run(python, HERE / "pack.py", raw, *(f"{tag}={work / folder_of(tag)}" for tag in tags), "--licences", work / "licences").split()
    tools = steps.build / "wheels" / "tools"
    steps.run(sys.executable, "-m", "venv", tools)
    steps.run(tools / "bin" / "python", "-m", "pip", "install", "-q", "--disable-pip-version-check", "-r", HERE / "requirements.txt")
    out = steps.build / "wheels"
    for old in out.glob("*.whl"):
        old.unlink()
    with_tools = {**os.environ, "PATH": f"{tools / 'bin'}:{os.environ['PATH']}"}
    for wheel in made:
        steps.run(tools / "bin" / "auditwheel", "repair", "--wheel-dir", out, wheel, env=with_tools, what="auditwheel")
    return sorted(out.glob("*.whl"))


def check_codelets(wheel_folder, wheel):
    """auditwheel does not look into .gp files: their code may ask for no newer C library than the wheel's tag says."""
    most = int(re.search(r"manylinux_2_(\d+)_", wheel.name)[1])
    for gp in sorted(wheel_folder.rglob("*.gp")):
        newest = max((int(n) for n in re.findall(rb"GLIBC_2\.(\d+)", gp.read_bytes())), default=0)
        if newest > most:
            sys.exit(f"wheel: {gp.name} needs GLIBC_2.{newest}, {wheel.name} promises 2.{most}")


def try_wheel(steps, python, wheel, processors):
    """In an environment of its own, away from the tree, without compilers."""
    folder = steps.build / "wheels" / f"venv-{python.name}"
    steps.run(python, "-m", "venv", "--clear", folder)
    steps.run(folder / "bin" / "python", "-m", "pip", "install", "-q", "--disable-pip-version-check", wheel, what=f"installing {wheel.name}")
    bare = {"PATH": "/nowhere", "HOME": str(folder / "home")}
    inside = folder / "bin" / "python"
    smoke = ROOT / "tests" / "python" / "smoke.py"
    say(f"{wheel.name} on {python}: " + steps.run(inside, smoke, env=bare, cwd="/", what=f"what {wheel.name} installs").strip().split("\n")[-1])
    qemu = shutil.which("qemu-x86_64")
    for processor in processors if qemu else []:
        emulated = {**bare, "PANDO_EMULATOR": f"{qemu} -cpu {processor}"}
        said = steps.run(qemu, "-cpu", processor, inside, smoke, env=emulated, cwd="/", what=f"{wheel.name} on a {processor}")
        say(f"{wheel.name} on a {processor}: " + said.strip().split("\n")[-1])
    if processors and not qemu:
        say(f"not tried on {', '.join(processors)}: no qemu-x86_64 (Debian: qemu-user)")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--processors", default="Haswell,Nehalem", help="names of qemu-x86_64 -cpu")
    arguments = parser.parse_args()
    steps = Steps(arguments.build.resolve())
    found = interpreters()
    missing = [f"{major}.{minor}" for major, minor in VERSIONS if (major, minor) not in found]
    if missing:
        say(f"no CPython {', '.join(missing)} with its headers here: no wheel is made or tried for it")
    builders = {tag_of(version): path for version, path in sorted(found.items(), reverse=True)}  # the oldest that a tag is for
    build_cores(steps, builders.values())
    made = pack(steps, builders)
    wheels = {tag: wheel for tag in builders for wheel in made if f"-{tag}-" in wheel.name}
    check_codelets(steps.build / "wheel" / "parts", next(iter(wheels.values())))
    processors = [name for name in arguments.processors.split(",") if name]
    for version, python in sorted(found.items()):
        # Processors' code is the same in all wheels: one is enough.
        try_wheel(steps, python, wheels[tag_of(version)], processors if version == max(found) else [])
    for wheel in wheels.values():
        print(f"{wheel}  {wheel.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
