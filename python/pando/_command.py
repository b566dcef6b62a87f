"""The command `pando` of an installed package: becomes the program that lies beside it."""
import os
import pathlib
import sys


def program():
    """Where the tool `pando` is: pando/bin in an installed package, ../../bin of a build tree."""
    here = pathlib.Path(__file__).resolve().parent
    folder = pathlib.Path(os.path.abspath(__file__)).parent  # of a link to the sources, the link's
    for candidate in (here / "bin" / "pando", folder.parents[1] / "bin" / "pando"):
        if candidate.is_file():
            return candidate
    raise FileNotFoundError(f"no program 'pando' in {here / 'bin'} or {folder.parents[1] / 'bin'}: the package pando is not whole")


def main():
    """Runs the tool with this process's arguments; what it ends with, this process ends with."""
    try:
        path = program()
    except FileNotFoundError as error:
        sys.exit(f"pando: {error}")
    arguments = sys.argv[1:]
    # Jupyter kernels run in this Python, unless another one is named.
    if arguments[:2] == ["jupyter", "install"] and not any(a.startswith("--python") for a in arguments):
        arguments += ["--python", sys.executable]
    os.execv(path, [str(path), *arguments])
