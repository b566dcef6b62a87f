import pytest

import popxl


@pytest.fixture
def main():
    """The main graph of a new program, as the current graph."""
    ir = popxl.Ir()
    with ir.main_graph as graph:
        yield graph


@pytest.fixture
def run():
    """Stores tensors, runs the program once on the reference, and gives their contents. Variables of the program can be asked for, too."""
    def run(*tensors, inputs=None):
        from popxl import ops

        ir = tensors[0].ir
        with ir.main_graph:
            streams = [popxl.d2h_stream(t.shape, t.dtype) for t in tensors]
            for stream, t in zip(streams, tensors):
                ops.host_store(stream, t)
        with popxl.Session(ir, "interpreter") as session:
            results = session.run(inputs or {})
        found = [results[stream] for stream in streams]
        return found[0] if len(found) == 1 else found

    return run
