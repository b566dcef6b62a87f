"""The tables of a report file, as the objects of this package read them."""
import functools

NO_STEPS = frozenset({"loop", "if", "switch", "case", "function", "call"})
"""Kinds of the table `program` that are around steps, or call them."""

TERMS = ("compute", "exchange", "local_copy", "sync", "global_exchange", "host")
"""Columns of `steps` whose sum is a step's cycles, waiting left out."""


class Part:
    """A part of a report, equal to another object for the same part: `_key` says which one it is."""

    def __init__(self, data):
        self._data = data

    def __eq__(self, other):
        return isinstance(other, Part) and self._data is other._data and self._key == other._key

    def __hash__(self):
        return hash((id(self._data), self._key))


class Of(Part):
    """A row of a table."""

    def __init__(self, data, index=0):
        super().__init__(data)
        self._index = index

    @property
    def _key(self):
        return type(self), self._index


class Data:
    """Columns as lists, each read once, and what is found from several of them."""

    def __init__(self, report):
        self.report = report
        self.categories = [c["category"] for c in report.document("categories")]

    @functools.cache
    def column(self, table, column):
        values = self.array(table, column)
        return values if isinstance(values, list) else values.tolist()

    @functools.cache
    def array(self, table, column):
        """The same as an array of NumPy; of texts a list. Empty for a column that the file does not have."""
        return self.report._column(table, column, self.report._index["tables"][table]) if self.has(table, column) else []

    def has(self, table, column):
        return table in self.report.tables and column in self.report._index["tables"][table]["columns"]

    def rows_of(self, table, column, row):
        ends = self.column(table, column)
        return range(ends[row - 1] if row > 0 else 0, ends[row])

    # --- memory

    @functools.cache
    def _live_bytes_of(self, tile):
        """{live set, or -1 for what is always live: {variable: bytes}} of a tile, or of all (None)."""
        size, variable, live = (self.column("allocations", c) for c in ("size", "variable", "live"))
        found = {}
        for i in range(len(size)) if tile is None else self.rows_of("tiles", "allocations", tile):
            bytes_of = found.setdefault(live[i], {})
            bytes_of[variable[i]] = bytes_of.get(variable[i], 0) + size[i]
        return found

    @functools.cached_property
    def _set_of_interval(self):
        import numpy as np

        ends = np.asarray(self.array("live_sets", "intervals"), np.int64)
        return np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0))

    @functools.cache
    def _sets_at(self, order):
        """The live sets that are live at an order."""
        if order is None:
            return frozenset([-1])
        begin, end = self.array("live_intervals", "begin"), self.array("live_intervals", "end")
        return frozenset(self._set_of_interval[(begin <= order) & (order < end)].tolist()) if len(begin) else frozenset()

    def live(self, tiles, order):
        """{variable: bytes}: what is live at an order and not always, or always (None); on a tile, on several (a range), or on all (None)."""
        sets, found = self._sets_at(order), {}
        for tile in tiles if isinstance(tiles, range) else [tiles]:
            by_set = self._live_bytes_of(tile)
            for live in sets & by_set.keys():
                for variable, size in by_set[live].items():
                    found[variable] = found.get(variable, 0) + size
        return found

    def tile(self, tile):
        tiles = len(self.column("tiles", "used"))
        if not 0 <= tile < tiles:
            raise IndexError(f"there is no tile {tile}; the report has {tiles}")
        return tile

    def tiles_of_ipu(self, ipu):
        target = self.report["target"]
        if not 0 <= ipu < target["ipus"]:
            raise IndexError(f"there is no IPU {ipu}; the report has {target['ipus']}")
        return range(ipu * target["tiles_per_ipu"], (ipu + 1) * target["tiles_per_ipu"])

    @functools.cached_property
    def live_bytes(self):
        """By order: the bytes that are live then and not always, over all streams."""
        out = {}
        for order, n in zip(self.column("liveness", "order"), self.column("liveness", "live_bytes")):
            out[order] = out.get(order, 0) + n
        return out

    def positions(self, live):
        """[(start, end)]: when a live set (0: always) is live, as positions among the steps that have memory."""
        import numpy as np

        orders = np.asarray([order for order, kind in zip(self.column("program", "order"), self.column("program", "kind")) if kind not in NO_STEPS])
        if live == 0:
            return [(0, len(orders))]
        rows = self.rows_of("live_sets", "intervals", live - 1)
        ends = (np.searchsorted(orders, self.array("live_intervals", c)[rows.start:rows.stop]).tolist() for c in ("begin", "end"))
        return [(start, end) for start, end in zip(*ends) if start < end]

    # --- vertices

    def vertices(self, groups, tiles):
        """[(row of `codelets`, vertices)] by name, of rows [begin, end) of `vertex_groups`, on tiles of a range."""
        import numpy as np

        begin, end, count, codelet = (np.asarray(self.array("vertex_groups", c)[groups.start:groups.stop], np.int64)
                                      for c in ("begin", "end", "count", "codelet"))
        on = np.maximum(np.minimum(end, tiles.stop) - np.maximum(begin, tiles.start), 0) * count
        sums = {}
        for i in np.flatnonzero(on).tolist():
            sums[int(codelet[i])] = sums.get(int(codelet[i]), 0) + int(on[i])
        return sorted(sums.items(), key=lambda item: self.column("codelets", "name")[item[0]])

    @functools.cache
    def code_bytes(self, tile):
        """{codelet: bytes of its code} on a tile."""
        size, variable = self.column("allocations", "size"), self.column("allocations", "variable")
        names, category = self.column("variables", "name"), self.column("variables", "category")
        code, found = self.categories.index("vertex code") if "vertex code" in self.categories else -1, {}
        for i in self.rows_of("tiles", "allocations", tile):
            if category[variable[i]] == code:
                found[names[variable[i]]] = found.get(names[variable[i]], 0) + size[i]
        return found

    # --- the program

    @functools.cached_property
    def parts(self):
        """By row of `program`: the rows directly inside."""
        out = {}
        for row, inside in enumerate(self.column("program", "inside")):
            out.setdefault(inside, []).append(row)
        return out

    def program(self, row):
        """The object for a row of `program`."""
        from pva._programs import GlobalExchangeProgram, program_class

        if self._crosses_ipus(self.column("program", "exchange")[row]):
            return GlobalExchangeProgram(self, row)
        return program_class(self.column("program", "kind")[row])(self, row)

    @functools.cache
    def traffic(self, exchange):
        """[(IPU that sends, IPU that receives, bytes)] of a row of `exchanges` at one execution."""
        block, ipu = self.column("exchanges", "block")[exchange], self.report["target"]["tiles_per_ipu"]
        columns = (self.column("traffic", c) for c in ("from", "to", "bytes"))
        rows = self.rows_of("exchanges", "traffic", exchange)
        return [(start * block // ipu, end * block // ipu, n) for start, end, n in zip(*(c[rows.start:rows.stop] for c in columns))]

    def _crosses_ipus(self, exchange):
        return exchange >= 0 and self.report["target"]["ipus"] > 1 and any(start != end for start, end, _ in self.traffic(exchange))

    # --- the execution

    @functools.cached_property
    def executed(self):
        """{row of `program`: the rows of `steps` that execute it, the first one of each stream}."""
        out = {}
        for step, (row, stream) in enumerate(zip(self.column("steps", "program"), self.column("steps", "stream"))):
            out.setdefault(row, {}).setdefault(stream, step)
        return {row: list(steps.values()) for row, steps in out.items()}

    @functools.cached_property
    def executed_sets(self):
        """{row of `compute_sets`: the same}."""
        sets, stream, out = self.column("program", "compute_set"), self.column("steps", "stream"), {}
        for row, steps in self.executed.items():
            for step in steps if row >= 0 and sets[row] >= 0 else []:
                out.setdefault(sets[row], {}).setdefault(stream[step], step)
        return {row: list(steps.values()) for row, steps in out.items()}

    def estimated_cycles_by_tile(self, steps, name):
        """Of each tile at one execution of these rows of `steps`, which are of streams with tiles of their own. Raises ValueError for none."""
        if not steps:
            raise ValueError(f"{name!r} has no cycles: the report has no execution of it")
        return [sum(cycles) for cycles in zip(*(self.cycles_by_tile(step, 1) for step in steps))]

    def cycles_by_tile(self, step, times, tiles=None):
        """Of each tile (of a range, or of all) at so many executions of a row of `steps`, waiting left out."""
        tiles = tiles if tiles is not None else range(self.report["target"]["tiles"])
        out = [0] * len(tiles)

        def put(begin, end, cycles):
            begin, end = max(begin, tiles.start) - tiles.start, min(end, tiles.stop) - tiles.start
            if begin < end:
                out[begin:end] = [cycles] * (end - begin)

        profile, executions = self.column("steps", "profile")[step], self.column("steps", "executions")[step]
        if profile >= 0:
            begin, end, cycles = (self.column("tile_cycles", c) for c in ("begin", "end", "cycles"))
            for k in self.rows_of("tile_profiles", "ranges", profile):
                put(begin[k], end[k], cycles[k] * times)
            return out
        all_cycles = sum(self.column("steps", term)[step] for term in TERMS)
        first, last = (self.column("stream_tiles", c) for c in ("begin", "end"))
        for k in self.rows_of("streams", "tiles", self.column("steps", "stream")[step]):
            put(first[k], last[k], all_cycles * times // max(1, executions))
        return out

    def stream_of(self, tile):
        """The row of `streams` of a tile; of one without anything to do that of the other tiles of its IPU, -1 if there is none."""
        first, last = (self.column("stream_tiles", c) for c in ("begin", "end"))
        streams = range(len(self.column("streams", "name")))
        for stream in streams:
            if any(first[k] <= tile < last[k] for k in self.rows_of("streams", "tiles", stream)):
                return stream
        ipu, is_io = self.column("streams", "ipu"), self.column("streams", "io")
        own = tile // max(1, self.report["target"]["tiles_per_ipu"])
        return next((s for s in streams if ipu[s] == own and not is_io[s]), -1)
