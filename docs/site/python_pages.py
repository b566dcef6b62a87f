"""The reference of Python: pages that ask the reader of docstrings for the public names of each module."""
MODULES = {
    "popxl": "Graphs, tensors, streams, sessions.",
    "popxl.ops": "Functions that add ops to the current graph.",
    "popxl.ops.collectives": "Ops between replicas.",
    "popxl.ops.var_updates": "Updates of variables in place.",
    "popxl.transforms": "Gradients, and exchanges that are merged.",
    "popxl.across": "One loop or one step over several devices.",
    "popxl.distribution": "Distribute a training step: search, apply, compare.",
    "pando.torch": "PyTorch models and whole training steps.",
    "pando.report": "Reports, from Python.",
    "poptorch": "PopTorch programs keep their calls.",
    "popdist": "Which of several instances this process is.",
    "popdist.collectives": "Sums, gathers and broadcasts between instances.",
    "popart": "What PopXL programs take from PopART.",
}


def write(python, out):
    """Pages for the modules that `python`, the folder of packages, has; returns them as nav."""
    nav, index = ["reference/python/index.md"], ["# Python", "", "The public names of each package, from their docstrings.", ""]
    folder = out / "reference/python"
    folder.mkdir(parents=True, exist_ok=True)
    for module, what in MODULES.items():
        path = python / module.replace(".", "/")
        if not (path.with_suffix(".py").exists() or (path / "__init__.py").exists()):
            raise FileNotFoundError(f"no module {module} in {python}: ./x build makes it")
        (folder / f"{module}.md").write_text(f"# {module}\n\n::: {module}\n")
        index.append(f"* [{module}]({module}.md): {what}")
        nav.append({module: f"reference/python/{module}.md"})
    (folder / "index.md").write_text("\n".join(index) + "\n")
    return nav
