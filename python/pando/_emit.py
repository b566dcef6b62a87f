"""pando.emit: a program as PyTorch."""


def emit(program, folder, *, target="torch", pieces=None, check=None, seed=1, zeros=(), samples=None):
    """Writes a placed program for another machine; `pando emit` from Python.

    Args:
        program: the text of a module or of a projected program, or the path of such a file or of a .onnx file.
        folder: where the files go; it is made if it is not there.
        target: "torch": PyTorch for torchrun, a file for each distinct program of a rank.
        pieces: the path of what `pando transform --pieces` wrote: data and results are the sequential program's then.
        check: of how many steps the interpreter's values are stored for check.py; None: one, where that takes no more than 1e9 operations.
        seed, zeros: what check.py runs on: the seed of numbers that are made, and names of variables that begin with zeros ("*.m").
        samples: of a projected program: samples of a step.

    Returns:
        pathlib.Path: the folder.

    Raises:
        ValueError: what the command rejects, with its message: ops that are not written in PyTorch, pieces of another program, another target.
    """
    import os
    import pathlib
    import subprocess

    from pando._command import program as tool

    text = isinstance(program, str) and "\n" in program
    words = [str(tool()), "emit", target, "-" if text else os.fspath(program), "-o", os.fspath(folder), "--seed", str(seed)]
    for option, value in (("--pieces", pieces), ("--check", check), ("--samples", samples)):
        if value is not None:
            words += [option, str(value)]
    if zeros:
        words += ["--zeros", ",".join(zeros)]
    done = subprocess.run(words, input=program if text else None, capture_output=True, text=True)
    if done.returncode:
        raise ValueError(done.stderr.strip().removeprefix("pando: "))
    return pathlib.Path(folder)
