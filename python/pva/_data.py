"""The tables of a report file, as the objects of this package read them."""
import functools


class Of:
    """A part of a report, one row of a table: equal to another object for the same row."""

    def __init__(self, data, index=0):
        self._data, self._index = data, index

    def __eq__(self, other):
        return type(self) is type(other) and self._data is other._data and self._index == other._index

    def __hash__(self):
        return hash((type(self), id(self._data), self._index))


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
        """The object for a row of `program`; of -1 one of an unknown type."""
        from pva._programs import program_class

        kind = self.column("program", "kind")[row] if row >= 0 else ""
        return program_class(kind)(self, row)
