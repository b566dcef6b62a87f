"""Writes the modules of popxl.ops whose functions say no more than their rows of the op table.

    generate_ops.py BUILD     BUILD/popxl/_core is the built native part

A row's signature is the function's; parameters that are the row's operands become operands, all others attributes. Modules that are written by hand, which lie
in the same folder as links, are left alone. The two modules _functions gather all of them.
"""
import ast
import pathlib
import sys
import textwrap

PACKAGES = {"": "popxl.ops", "var_updates.": "popxl.ops.var_updates"}
ALIASES = {"clip": "clamp", "identity": "rename"}
TYPES = ["Iterable", "List", "Literal", "Optional", "Tuple", "Union"]
HELPERS = ["axes_of", "dtype_index", "handle_negative_axis", "ints", "scalars"]


def is_tensor(annotation):
    return annotation in ("Tensor", "Optional[Tensor]", "Iterable[Tensor]", "List[Tensor]")


class Function:
    """A function of a row: the parts of its text."""

    def __init__(self, row):
        self.row = row
        self.name = row["name"]
        self.module = row["module"]
        definition = ast.parse(f"def {row['signature']}: pass").body[0]
        self.name = definition.name
        self.signature = definition.args
        self.returns = ast.unparse(definition.returns) if definition.returns else "Tensor"
        self.operand_names = [o[0] for o in row["operands"]]
        self.attribute_kinds = {a[0]: a[1] for a in row["attributes"]}

    def parameters(self):
        """(name, annotation, whether it is variadic)"""
        a = self.signature
        for p in [*a.args, *([a.vararg] if a.vararg else []), *a.kwonlyargs]:
            yield p.arg, ast.unparse(p.annotation) if p.annotation else "", p is a.vararg

    def arguments(self):
        """(list of operands, dict of attributes, keyword arguments of `scalars`), as text"""
        operands, attributes, numbers = [], [], []
        first = next((name for name, annotation, variadic in self.parameters() if is_tensor(annotation) and not variadic), None)
        for name, annotation, variadic in self.parameters():
            kind = self.attribute_kinds.get(name)
            if kind == "number" and "Tensor" in annotation:
                numbers.append(f"{name}={name}")
            elif is_tensor(annotation):
                many = variadic or annotation.startswith(("Iterable", "List"))
                operands.append(f"*{name}" if many else f"*(() if {name} is None else ({name},))" if "Optional" in annotation else name)
            elif kind is None:
                raise SystemExit(f"generate_ops: the row {self.row['name']!r} has no attribute for the parameter {name!r} of its signature")
            else:
                attributes.append(f'"{name}": {self.converted(name, kind, first)}')
        return operands, attributes, numbers

    def converted(self, name, kind, first):
        if name in ("axis", "axes") and kind == "ints":
            return f'axes_of({first}, {name}, "{self.name}")'
        if name in ("axis", "dim") and kind == "integer":
            return f'handle_negative_axis({first}, {name}, "{self.name}")'
        if kind in ("ints", "numbers"):
            return f'ints({name}, "{self.name}: {name}")' if kind == "ints" else f"None if {name} is None else [float(x) for x in {name}]"
        return f"dtype_index({name})" if kind == "dtype" else name

    def text(self, in_place=False):
        operands, attributes, numbers = self.arguments()
        make = "one" if self.returns == "Tensor" else "op"
        lines = [f"def {self.name}{'_' if in_place else ''}({ast.unparse(self.signature)}) -> {self.returns}:"]
        doc = self.row["doc"]
        if in_place:
            doc = ("The same as `%s`, as a view: changes of it are changes of the operands." if self.row["view"] else
                   "The same as `%s`, in place: the first tensor changes, and the result is another name of it.") % self.name
        lines += textwrap.wrap('"""' + doc.replace("\\", "\\\\"), 140, initial_indent="    ", subsequent_indent="    ")
        lines[-1] += '"""'
        if numbers:
            lines.append(f"    attributes, more = scalars({', '.join(numbers)})")
            if attributes:
                lines.append(f"    attributes.update({{{', '.join(attributes)}}})")
            given, told = f"[{', '.join([*operands, '*more'])}]", "attributes"
        else:
            given, told = f"[{', '.join(operands)}]", f"{{{', '.join(attributes)}}}"
        call = f'{make}("{self.row["name"]}", {given}, {told}{", in_place=True" if in_place else ""})'
        lines.append(f"    return {'tuple(' + call + ')' if self.returns.startswith('Tuple') else call}")
        return "\n".join(lines)


def names_of(function):
    yield function.name
    if function.row["has_in_place"] and not function.name.endswith("_"):
        yield function.name + "_"
    if function.name in ALIASES:
        yield ALIASES[function.name]


def text_of(functions):
    body = []
    for f in functions:
        body.append(f.text())
        if f.row["has_in_place"] and not f.name.endswith("_"):
            body.append(f.text(in_place=True))
        if f.name in ALIASES:
            body.append(f"{ALIASES[f.name]} = {f.name}")
    whole = "\n\n\n".join(body)
    used = [t for t in TYPES if t + "[" in whole]
    head = ['"""Made from the op table."""']
    head += [f"from typing import {', '.join(used)}", ""] if used else []
    head += ["from popxl import dtypes"] if "dtypes." in whole else []
    head += ["from popxl._build import " + ", ".join(n for n in ("one", "op") if f"{n}(\"" in whole)]
    helpers = [h for h in HELPERS if h + "(" in whole]
    head += [f"from popxl.ops.utils import {', '.join(helpers)}"] if helpers else []
    head += ["from popxl.tensor import Tensor"]
    names = [n for f in functions for n in names_of(f)]
    return "\n".join(head) + "\n\n\n" + whole + "\n\n\n__all__ = [" + ", ".join(f'"{n}"' for n in names) + "]\n"


def exported(path):
    """What a module written by hand offers."""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            return ast.literal_eval(node.value)
    return []


def write(path, text):
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def main(build):
    sys.path.insert(0, str(build))
    from popxl import _core

    folder = build / "popxl" / "ops"
    by_module = {}
    for row in _core.op_table():
        if row["signature"]:
            function = Function(row)
            by_module.setdefault(function.module, []).append(function)
    made = {}
    for module, functions in sorted(by_module.items()):
        path = folder / (module.replace(".", "/") + ".py")
        if path.is_symlink():
            continue
        path.parent.mkdir(exist_ok=True)
        write(path, text_of(functions))
        made[path] = [n for f in functions for n in names_of(f)]
    for prefix, package in PACKAGES.items():
        here = folder / prefix.rstrip(".")
        lines, names = [], []
        for path in sorted(here.glob("*.py")):
            if path.name.startswith("_") or not (path.is_symlink() or path in made):
                if not path.name.startswith("_"):
                    path.unlink()  # of a row that is there no more
                continue
            offered = made.get(path) or exported(path)
            if offered:
                lines.append(f"from {package}.{path.stem} import {', '.join(offered)}")
                names += offered
        text = '"""All functions of the package."""\n' + "\n".join(lines) + "\n\n__all__ = " + repr(sorted(names)) + "\n"
        write(here / "_functions.py", text)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]).resolve())
