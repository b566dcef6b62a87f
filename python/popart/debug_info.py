"""Where the ops of programs come from, in a file: for each op its operands, results, and the user's line."""
import json

import popxl

_recording = None


def initializePoplarDebugInfo(filename, format="json"):
    """From now on new programs are of interest. Raises ValueError for another format, RuntimeError if there is a file already."""
    global _recording
    if format != "json":
        raise ValueError(f"debug information is written as 'json', not as {format!r}")
    if _recording is not None:
        raise RuntimeError("debug information is being recorded already: call closePoplarDebugInfo first")
    _recording = (filename, {id for id in popxl.Ir._ir_cache})


def closePoplarDebugInfo():
    """Writes what programs that were made since hold now."""
    global _recording
    if _recording is None:
        raise RuntimeError("no debug information is being recorded: call initializePoplarDebugInfo first")
    filename, before = _recording
    _recording = None
    strings = _Strings()
    contexts = []
    for key, ir in sorted(popxl.Ir._ir_cache.items()):
        if key not in before:
            contexts += _of_program(ir, strings)
    with open(filename, "w", encoding="utf-8") as out:
        json.dump({"contexts": contexts, "stringTable": strings.all}, out, indent=1)


class _Strings:
    def __init__(self):
        self.all = []
        self._numbers = {}

    def number(self, text):
        if text not in self._numbers:
            self._numbers[text] = len(self.all)
            self.all.append(text)
        return self._numbers[text]


def _of_program(ir, strings):
    program = ir._program
    contexts = [{"layer": "popxl", "category": "program", "name": str(ir.id)}]
    for view in ir._pb_ir.getAllGraphs():
        for tensor in program.graph_tensors(view._number):
            contexts.append({"layer": "popxl", "category": "tensor", "id": program.tensor_id(tensor)})
        for op in view.getOps():
            file, line, function = program.op_source(op.id)
            contexts.append({
                "layer": "popxl", "category": "op", "api": program.op_kind(op.id), "opType": op.opType(), "instanceName": op.name(),
                "inputs": [t.id for t in op.getInputTensors()], "outputs": [t.id for t in op.getOutputTensors()],
                "location": {"fileName": strings.number(file), "lineNumber": line, "functionName": strings.number(function)},
            })
    return contexts
