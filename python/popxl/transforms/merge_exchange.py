"""Exchanges with host and Streaming Memory, at one time."""
from popxl.context import _Block, _context, io_tiles

EXCHANGES = ("host_load", "host_store", "remote_load", "remote_load_into", "remote_store", "remote_code_load")


class _MergeBlock(_Block):
    """Collects the ops that are made inside; at the end, exchanges that do not depend on one another become one group of their Ir."""

    def __init__(self, on_io_tiles=False, verify_overlap=False):
        self._on_io_tiles = on_io_tiles
        self._verify = verify_overlap
        self._open = []

    def __enter__(self):
        collected = []
        tiles = io_tiles() if self._on_io_tiles else None
        if tiles is not None:
            tiles.__enter__()
        _context._collectors.append(collected)
        self._open.append((collected, tiles))

    def __exit__(self, exc_type, exc_value, exc_tb):
        collected, tiles = self._open.pop()
        _context._collectors.remove(collected)
        if tiles is not None:
            tiles.__exit__(exc_type, exc_value, exc_tb)
        if exc_type is None:
            left, groups = _merge(collected)
            if self._verify and left > 1:
                raise RuntimeError(f"io_tile_exchange: {left} ops remain after exchanges have been merged, where one was wanted: exchanges that depend on "
                                   "one another cannot be merged, and other ops do not belong inside.")
            for graph, group in groups:
                graph.ir._merged_exchanges.append(group)


def _merge(collected):
    """How many ops remain, each group counted once; groups of the exchanges of each graph."""
    left, groups = 0, []
    for graph in dict.fromkeys(g for g, _ in collected):
        program = graph.ir._program
        group, made = [], set()
        for index in (i for g, i in collected if g == graph):
            kind = program.op_kind(index)
            if kind == "init":
                continue
            depends = any(t in made for t in program.given_operands(index))
            if kind in EXCHANGES and not depends:
                if not group:
                    left += 1
                group.append(index)
                made.update(t for t in program.op_results(index) if t is not None)
            else:
                left += 1
        if len(group) > 1:
            groups.append((graph, tuple(group)))
    return left, groups


def merge_exchange():
    """Loads and stores of host and remote buffers, and loads of code, that are made inside happen at one time. Results do not change."""
    return _MergeBlock()


def io_tile_exchange(verify_overlap=True):
    """`popxl.io_tiles()` and `merge_exchange()` in one: exchanges made inside can overlap with what other tiles compute.

    Args:
        verify_overlap: whether more than one op that remains at the end is an error.

    Raises:
        RuntimeError: it is.
    """
    return _MergeBlock(True, verify_overlap)
