"""A program as a picture for Graphviz."""


def _quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def text_of(ir):
    """All graphs, their ops as boxes, tensors as arrows."""
    program = ir._program
    lines = ["digraph ir {", "  node [shape=box];"]
    for number in range(program.graph_count()):
        lines.append(f"  subgraph cluster_{number} {{ label={_quoted(program.graph_name(number))};")
        ops = program.graph_ops(number)
        producers = {}
        for op in ops:
            lines.append(f"    op{op} [label={_quoted(program.op_kind(op))}];")
            for t in program.op_results(op):
                if t is not None:
                    producers[t] = op
        for op in ops:
            for t in program.given_operands(op):
                if t in producers:
                    lines.append(f"    op{producers[t]} -> op{op} [label={_quoted(program.tensor_name(t))}];")
        lines.append("  }")
    return "\n".join([*lines, "}", ""])
