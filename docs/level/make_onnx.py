"""Writes the page on ONNX, with the tables of its operators and of compositions, from a build.

    ./x python docs/level/make_onnx.py            writes docs/level/onnx.md
    ./x python docs/level/make_onnx.py --check    says whether it is up to date
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "level" / "onnx.md"
HEAD = """# ONNX models

Made by `docs/level/make_onnx.py` from the rows in `src/onnx/ops` and `src/ir/compositions`; a test compares.

    ir = popxl.distribution.load_onnx("model.onnx", dimensions={"batch": 8})      # a program that sessions run
    pando convert model.onnx --dimension batch=8                                   # its text

`load_onnx` reads a model with its weights; inputs and outputs are streams of their names. The importer knows the
operators below from opset 7 to the newest one of the onnx package that `tests/conformance/onnx_requirements.txt`
names, control flow, functions that a model brings along, sparse initializers and data in files beside the model.

## Shapes

Every shape is known when the model is read.

* **Dimensions** with a name get a size by it: `dimensions={"batch": 8}`. Those without one, or of size -1, get theirs
  by input and place: `dimensions={"x.0": 8}`. On the command line: `--dimension batch=8,x.0=8`.
* **Operands that say shapes** (axes, repeats, lengths, the condition of a loop) are constants, or follow from
  constants and shapes. If such an operand is an input of the model, `values={"axes": [1]}` gives its value, which is
  then part of the program. The error that asks for it names the input.
* Everything that depends on shapes and constants alone is computed when the model is read: values of up to 65,536
  elements. Larger ones are computed by the program.

## Types

bool, int8 to int64, uint8 to uint64, float16, float32. float64 runs on the interpreter only: tiles have no such type.
bfloat16, the float8 and float4 types, integers of 4 and 2 bits, complex numbers, texts, sequences, maps and optional
values are rejected by name.

## Training

With a loss, `load_onnx` gives one step of training: forward, backward and update, with weights resident on the
device.

    ir = load_onnx("model.onnx", {"batch": 32}, loss={"cross_entropy": "logits"}, optimizer={"name": "adamw", "lr": 1e-3})
    streams = {s.tensor_id: s for s in (*ir.get_all_h2d_streams(), *ir.get_all_d2h_streams())}
    with popxl.Session(ir, "cpu") as session:
        for x, labels in batches:
            loss = session.run({streams["x"]: x, streams["target"]: labels})[streams["loss"]]
        save_onnx(session, "model.onnx", "trained.onnx")

* **The loss** is an output of the model (`loss="loss"`), or the mean cross entropy of scores and labels, or the mean
  squared difference: these are ONNX's own operators, put after an output, and their targets come from the stream
  "target".
* **Optimizers** are "sgd", "adam" and "adamw", with the numbers and the updates of `torch.optim`. Their state are
  variables that begin with zeros.
* **What is trained**: every floating weight that the loss follows from, but for those in `frozen` and for running
  means and variances of BatchNormalization, which are used as they stand.
* `onnx_weights(session)` gives all variables by their names; `save_onnx` writes the file again with the weights as
  they are now.
* Models with graphs inside of nodes (`If`, loops that are not written out) are rejected, and so are ops on the way to
  the loss that have no gradient.

## Checks

A signature below is the list of what a node may have: operands (`?`: may be absent; `...`: one or more), attributes
with their kinds (`!`: has to be there), results. It holds all versions of the operator, so axes may be an attribute
or an operand. An operand, attribute or result that is not there, a value made twice, an axis out of range, a shape of
more than 2^40 elements is a `ValueError` that names the file, the operator and the node. Data beside a model are
regular files below the model's folder, links resolved.

Loops are written out: up to 4,096 trips. A loop whose condition is known only at run time needs a number of trips
that bounds it, and stacks nothing.

## Proof

`./x conformance onnx` runs the backend tests of the onnx package on the interpreter, `cpu` and `ipu_model`: what
passes is in `tests/conformance/onnx.expected`, what does not has a reason in `tests/conformance/onnx.reasons`.
`./x conformance onnx --random 1000 --seed 1` compares random nodes with ONNX Runtime.
"""
COMPOSITIONS = """
## Compositions

Functions that frameworks have and Pando writes in ops of its own (`src/ir/compositions`). Importers call them by name: `ir::compose` in C++,
`Program.compose` of `popxl._core` in Python.

| function | operands | attributes | meaning |
| --- | --- | --- | --- |
"""


def families():
    """{name of a row's file: its folder}"""
    folder = ROOT / "src" / "onnx" / "ops"
    found = {}
    for path in folder.rglob("*.cpp"):
        name = re.search(r'\.signature =\s*"([^(]*)\(', path.read_text())
        found[name[1]] = path.parent.name
    return found


def page(operators, compositions):
    family_of = families()
    by_family = {}
    for domain, name, signature, limits in operators:
        by_family.setdefault(family_of[f"{domain}.{name}" if domain else name], []).append((signature, limits))
    parts = [HEAD, f"\n## Operators\n\n{len(operators)} operators. *Rejected*: what of one is not read, besides element types.\n"]
    for family, members in sorted(by_family.items()):
        parts.append(f"\n### {family}\n\n| operator | rejected |\n| --- | --- |\n")
        parts += [f"| `{signature}` | {limits} |\n" for signature, limits in members]
    parts.append(COMPOSITIONS)
    for name, doc, operands, attributes in compositions:
        cells = [f"`{name}`", ", ".join(operands), ", ".join(attributes), doc.replace("|", "\\|")]
        parts.append("| " + " | ".join(cells) + " |\n")
    return "".join(parts)


def main():
    from popxl import _core

    text = page(_core.onnx_operators(), _core.compositions())
    if "--check" in sys.argv[1:]:
        if not PAGE.exists() or PAGE.read_text() != text:
            sys.exit(f"{PAGE} is not what the tables say: run ./x python docs/level/make_onnx.py")
    else:
        PAGE.write_text(text)


if __name__ == "__main__":
    main()
