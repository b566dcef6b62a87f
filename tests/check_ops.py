"""Who needs to know something of an op asks its row (src/ir/op_row.h), not its name: no comparison with an op's name outside the rows."""
import re

import checking

ROW = re.compile(r"^src/ir/ops/.*\.cpp$")
NAME = re.compile(r'^    \.name = "(\w+)"', re.M)
# The model level and what stands on it; importers name the ops that they make.
READER = re.compile(r"^(src/(ir|transform|models|simulate|search|lower|session|project|split|ranks|measure|python|cli|emit)|python/native)/.*\.(h|cpp)$")
TEST = re.compile(r"_test\.cpp$|testing\.h$")
COMPARED = re.compile(r'(?:==|!=)\s*"(\w+)"|"(\w+)"\s*(?:==|!=)')
KIND = re.compile(r'(?:==|!=)\s*(?:ir::)?op_kind\("(\w+)"\)')
PART = re.compile(r'\b(?:row(?:\([^()]*\))?|op_row)\.name\.(?:starts_with|ends_with|find|contains|substr)\b')
LISTED = re.compile(r'^\s*\{\s*"(\w+)"\s*,', re.M)
# So many names of ops in front of braces make a list.
LIST = 4
# Words that are an op's name and something else, and lists that are no knowledge of ours.
REASONS = {
    "src/simulate/costs/cost_model.cpp": "DistIR's names and rules of its ops, by ours: the reference's table, not ours",
    "src/measure/published/b200.cpp": "a column of published measurements",
    "src/simulate/tables/formats/aiconfigurator.cpp": "the names of another planner's tables",
    "src/simulate/tables/formats/simumax.cpp": "the names of another planner's tables",
    "src/lower/shared/replicas.cpp": "kinds of reductions, attribute op",
    "src/lower/shared/index.cpp": "kinds of reductions, attribute reduction",
    "src/lower/shared/labels.cpp": "kinds of reductions, attribute reduction",
    "src/split/replicas.cpp": "forms of a gathered shape, attribute output_shape",
    "src/ir/compositions/index/scatter_elements.cpp": "kinds of reductions, attribute reduction",
    "src/ir/compositions/shape/cumulative.cpp": "which operation goes on along the axis",
    "src/ir/compositions/shape/pad.cpp": "kinds of padding, attribute mode",
    "src/ir/shared/tuples.cpp": "kinds of reductions, attribute op",
    "src/emit/torch/ops/distributed.cpp": "kinds of reductions, attribute op",
    "src/emit/torch/ops/index.cpp": "kinds of reductions, attribute reduction",
    "src/ir/shared/nll.cpp": "kinds of reductions, attribute reduction",
    "src/ir/shared/reduction_kind.cpp": "kinds of reductions, attribute op",
    "src/ir/shared/windows/interpolation.cpp": "ways of rounding, attribute nearest_mode",
    "src/search/models/model_config.cpp": "activations of published configurations",
    "src/ir/meaning/scatters.cpp": "kinds of reductions, attribute reduction",
}


def names_of(tree):
    return {name for path, text in tree.items() if ROW.match(path) for name in NAME.findall(text)}


def without_comments(text):
    return re.sub(r"//[^\n]*", "", text)


def found_in(text, names):
    """(position, what) of each comparison and list."""
    for pattern in (COMPARED, KIND):
        for m in pattern.finditer(text):
            name = next(g for g in m.groups() if g)
            if name in names:
                yield m.start(), f"'{name}' is compared"
    for m in PART.finditer(text):
        yield m.start(), "a part of an op's name is looked at"
    listed = [m for m in LISTED.finditer(text) if m[1] in names]
    if len(listed) >= LIST:
        yield listed[0].start(1), f"a list of {len(listed)} ops"


def check(tree, reasons=REASONS):
    names = names_of(tree)
    messages, used = [], set()
    for path, text in tree.items():
        if not READER.match(path) or ROW.match(path) or TEST.search(path):
            continue
        text = without_comments(text)
        for position, what in found_in(text, names):
            used.add(path)
            if path not in reasons:
                messages.append(f"{path}:{checking.line_of(text, position)}: {what}; ask its row, and add a column where none says it")
    return messages + [f"tests/check_ops.py: {path} compares with no op's name, the reason can go"
                       for path in sorted(set(reasons) - used) if path in tree]


CLEAN = {
    "src/ir/ops/a/add.cpp": '    .name = "add",\n',
    "src/ir/ops/a/mul.cpp": '    .name = "mul",\n',
    "src/transform/a.cpp": 'if (row.adds == Adds::operands) x = b.op("add", {a, b});  // not name == "add"\nif (mode == "fast") return;',
    "src/transform/a_test.cpp": 'if (m.row(o).name == "add") ++n;',
    "src/lower/shared/replicas.cpp": 'if (op == "mul") return;',
}
CASES = [
    ({"src/transform/b.cpp": '\nif (m.row(o).name == "add") return;'}, "src/transform/b.cpp:2: 'add' is compared"),
    ({"src/lower/b.cpp": 'return "mul" != name;'}, "'mul' is compared"),
    ({"src/lower/b.cpp": 'if (m.op(o).kind == op_kind("mul")) return;'}, "'mul' is compared"),
    ({"src/simulate/b.cpp": 'if (row.name.ends_with("_grad")) return;'}, "a part of an op's name"),
    ({"src/simulate/b.cpp": 'if (m.row(o).name.starts_with("conv")) return;'}, "a part of an op's name"),
    ({"src/search/b.cpp": '{"add", 1},\n{"mul", 2},\n{"add", 3},\n{"mul", 4},'}, "src/search/b.cpp:1: a list of 4 ops"),
    ({"src/lower/shared/replicas.cpp": ""}, "the reason can go"),
]

if __name__ == "__main__":
    checking.run("check_ops", check, CASES, CLEAN)
