"""Element-wise operations and reductions are listed once, in rows (src/kernels), in the order of the public enumerations. No other source has a list of them."""
import re

import checking

ROWS, REDUCE_ROWS = "src/kernels/elementwise/elementwise_rows.h", "src/kernels/rows/reduce_rows.h"
PUBLIC, REDUCE_PUBLIC = "include/popops/ExprOp.hpp", "include/popops/OperationDef.hpp"
# Table: file, public header, public enumeration, ours.
TABLES = {
    "PANDO_UNARY_ROWS": (ROWS, PUBLIC, "UnaryOpType", "Unary"),
    "PANDO_BINARY_ROWS": (ROWS, PUBLIC, "BinaryOpType", "Binary"),
    "PANDO_REDUCE_ROWS": (REDUCE_ROWS, REDUCE_PUBLIC, "Operation", "PandoReduceOp"),
}
# Another enumeration, with names of its own.
OTHERS = {"src/poplibs/gcl/cross_replica.cpp"}
# Rules of algebra, or of a few operations, name some; what names more of them, or prints their names, is a list.
MOST = 8


def rows_of(text, table):
    body = re.search(r"#define " + table + r"\(X\)(.*?)(?<!\\)\n", text, re.S)
    return re.findall(r"\bX\((\w+),\s*(\w+),", body[1]) if body else []


def enumerators_of(text, name):
    body = re.search(r"enum class " + name + r"\s*\{(.*?)\}", text, re.S)
    return re.findall(r"\b([A-Z][A-Z0-9_]*)\b", re.sub(r"//.*", "", body[1])) if body else []


def check(tree):
    messages = []
    for table, (file, header, public, own) in TABLES.items():
        rows = rows_of(tree.get(file, ""), table)
        if not rows:
            messages.append(f"{file}: no rows of {table}")
            continue
        if [r[0] for r in rows] != enumerators_of(tree.get(header, ""), public):
            messages.append(f"{file}: the rows of {table} are not the enumerators of {public}, in their order")
        for path, text in tree.items():
            if not re.match(r"src/.*\.(cpp|h|inc)$", path) or path in {ROWS, REDUCE_ROWS} | OTHERS or path.endswith("_test.cpp"):
                continue
            cases = set(re.findall(r"\bcase (?:\w+::)*(?:" + public + "|" + own + r")::(\w+)", text))
            if len(cases) > MOST:
                messages.append(f"{path}: {len(cases)} cases of {own}: a second list; make it from {table}")
            named = {r[0] for r in rows if f'"{r[0]}"' in text}
            if len(named) > 2:
                messages.append(f"{path}: names of {own} in quotes ({', '.join(sorted(named)[:3])}, ...): a second list; make it from {table}")
    return messages


def rows_file(unary, binary="ADD, add"):
    return f"#define PANDO_UNARY_ROWS(X) \\\n  X({unary}, floats) \\\n  X(COS, cos, floats)\n\n#define PANDO_BINARY_ROWS(X) \\\n  X({binary}, numbers)\n"


CLEAN = {
    ROWS: rows_file("CBRT, cbrt"),
    PUBLIC: "enum class BinaryOpType { ADD };\nenum class UnaryOpType {\n  CBRT, // a root\n  COS\n};\n",
    REDUCE_ROWS: "#define PANDO_REDUCE_ROWS(X) \\\n  X(ADD, add, numbers) \\\n  X(MUL, mul, numbers)\n",
    REDUCE_PUBLIC: "enum class Operation {\n  /// Sums.\n  ADD,\n  MUL,\n};\n",
    "src/a/rules.cpp": "switch (op) { case Unary::cbrt: return 1; }",
}
CASES = [
    ({REDUCE_PUBLIC: "enum class Operation { ADD, MUL, MIN };"}, "are not the enumerators of Operation"),
    ({ROWS: rows_file("SIN, sin")}, "are not the enumerators of UnaryOpType"),
    ({ROWS: "#define PANDO_BINARY_ROWS(X) \\\n  X(ADD, add, numbers)\n"}, "no rows of PANDO_UNARY_ROWS"),
    ({"src/a/list.cpp": "".join(f"case Unary::f{i}: break;\n" for i in range(9))}, "9 cases of Unary: a second list"),
    ({"src/a/list.cpp": "".join(f"case expr::UnaryOpType::F{i}: break;\n" for i in range(9))}, "9 cases of Unary: a second list"),
    ({ROWS: rows_file("CBRT, cbrt, floats) \\\n  X(SIN, sin").replace("\n\n", "\n\n"), PUBLIC: "enum class BinaryOpType { ADD };\nenum class UnaryOpType { CBRT, SIN, COS };\n",
      "src/a/names.cpp": 'const char* names[] = {"CBRT", "SIN", "COS"};'}, "names of Unary in quotes"),
]

if __name__ == "__main__":
    checking.run("check_rows", check, CASES, CLEAN)
