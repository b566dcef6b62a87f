"""Writes the table of all ops of the model level, from the op table of a build.

    ./x python docs/level/make_ops.py            writes docs/level/ops.md
    ./x python docs/level/make_ops.py --check    says whether it is up to date
"""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "level" / "ops.md"
GRADIENT = {"gradient": "yes", "zero": "zero", "no": "none", "rejected": "error", "blocks": "ends here"}
LOWERING = {"own": "own", "expansion": "by other ops", "data": "data", "none": "no"}
HEAD = """# All ops

Made by `docs/level/make_ops.py` from the rows in `src/ir/ops`; a test compares. In the columns:

* **operands**: in order; `...` takes all further ones, `[x]` may be absent. A name that ends with an underscore (`add_`) is the form in place.
* **attributes**: `[x]` may be absent.
* **gradient**: *yes*; *zero*; *none*: the path ends without a word; *error*: it is rejected; *ends here*: on purpose; *of its graphs*: a call or loop of their gradients.
* **cost**: *own*: the row counts operations; otherwise one for each element of the results.
* **lowering**: *own*: a row in `src/lower/ops`; *by other ops*: the row says which; *no*: only the interpreter and transforms know it.
"""


def groups():
    folder = ROOT / "src" / "ir" / "ops"
    return {path.stem: path.parent.name for path in folder.rglob("*.cpp") if not path.stem.endswith("_test")}


def operand(rule):
    name, _, variadic, optional = rule
    return name + "..." if variadic else f"[{name}]" if optional else name


def line(row):
    name = f"`{row['name']}`" + (f", `{row['name']}_`" if row["has_in_place"] else "")
    attributes = ", ".join(a[0] if a[2] else f"[{a[0]}]" for a in row["attributes"])
    gradient = "of its graphs" if row["name"] in ("call", "repeat", "conditional") else GRADIENT[row["differentiable"]]
    cells = [name, ", ".join(operand(o) for o in row["operands"]), attributes, gradient, "own" if row["cost"] else "elements",
             LOWERING[row["lowering"]]]
    return "| " + " | ".join(cells) + " |"


def page(rows):
    group_of = groups()
    by_group = {}
    for row in rows:
        # The file of `accumulate_` is accumulate.cpp.
        by_group.setdefault(group_of.get(row["name"]) or group_of[row["name"].rstrip("_")], []).append(row)
    parts = [HEAD]
    for group, members in sorted(by_group.items()):
        parts.append(f"\n## {group}\n\n| op | operands | attributes | gradient | cost | lowering |\n| --- | --- | --- | --- | --- | --- |\n")
        parts += [line(row) + "\n" for row in sorted(members, key=lambda row: row["name"])]
    return "".join(parts)


def main():
    from popxl import _core

    text = page(_core.op_table())
    if "--check" in sys.argv[1:]:
        if not PAGE.exists() or PAGE.read_text() != text:
            sys.exit(f"{PAGE} is not what the op table says: run ./x python docs/level/make_ops.py")
    else:
        PAGE.write_text(text)


if __name__ == "__main__":
    main()
