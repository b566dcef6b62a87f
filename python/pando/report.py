"""Reads report files: what a program needed and what its runs cost (docs/level/report.md).

    report = pando.report.open("report/profile.pando")
    report["target"]["tiles"]                     # the document `report`
    report.steps.sort_values("compute")           # a table: a pandas.DataFrame, or `Columns` where pandas is not installed
    report.ask("live", top=20)                    # an answer of `pando report --json`

A table is read when it is asked for. Texts are in place of their numbers; rows of other tables are numbers, -1 where there is none.
"""
import builtins
import json
import os
import struct
import zlib

__all__ = ["open", "Report", "Columns", "ReportError"]

_MAGIC, _END, _VERSION = b"PANDORPT", b"PANDOEND", 4
_HEAD, _FOOT = 12, 28
_KINDS = {dict: "an object", list: "a list", str: "a text", int: "a whole number", bool: "true or false"}


class ReportError(ValueError):
    """A file that is not a report, of another version, cut off or damaged."""


class Columns(dict):
    """A table where pandas is not installed: the name of each column, and its values as a NumPy array (of texts: a list)."""

    def __len__(self):
        """The number of rows."""
        return len(next(iter(self.values()))) if self.keys() else 0

    def row(self, index):
        """One row, as a dict."""
        return {name: values[index] for name, values in self.items()}


def _frame(columns):
    try:
        import pandas
    except ImportError:
        return Columns(columns)
    return pandas.DataFrame(columns)


class Report:
    """A report file. `report[name]` is a part of the document `report`; tables are attributes (`report.tables` names them)."""

    def __init__(self, path):
        self.path = os.fspath(path)
        with builtins.open(self.path, "rb") as file:
            self._bytes = file.read()
        self._index = self._read_index()
        self.writer = self._index["writer"]
        self._part(self._index["documents"], "report", list, "documents")
        self._document = self.document("report")
        self._part((self._document,), 0, dict, "report")
        for part, kind in (("target", dict), ("graph", dict), ("out_of_memory", str), ("executed", bool)):
            self._part(self._document, part, kind, "report")
        self._strings = None
        self._tables = {}

    def _fail(self, text):
        raise ReportError(f"{self.path}: {text}")

    def _read_index(self):
        data = self._bytes
        if not data:
            self._fail("this is not a report of Pando: the file is empty")
        if not data.startswith(_MAGIC):
            if data.lstrip()[:1] == b"{":
                self._fail("this is a report of version 3 (JSON), which `pando report` reads; json.load gives its parts")
            self._fail(f"this is not a report of Pando: it does not begin with {_MAGIC.decode()}")
        if len(data) < _HEAD + _FOOT or not data.endswith(_END):
            self._fail(f"the report is cut off after {len(data)} bytes: it does not end with {_END.decode()}")
        version = struct.unpack_from("<I", data, 8)[0]
        if version != _VERSION:
            self._fail(f"the report has version {version}, this Pando reads version {_VERSION}")
        index = self._json(struct.unpack_from("<QIII", data, len(data) - _FOOT), "its index")
        self._part((index,), 0, dict, "its index")
        for part, kind in (("writer", str), ("chunk_rows", int), ("documents", dict), ("tables", dict)):
            self._part(index, part, kind, "its index")
        for table, spec in index["tables"].items():
            self._part(index["tables"], table, dict, "tables")
            self._part(spec, "rows", int, table)
            for column, about in self._part(spec, "columns", dict, table).items():
                where = f"{table}.{column}"
                self._part(spec["columns"], column, dict, table)
                self._part(about, "holds", str, where)
                for chunk in self._part(about, "chunks", list, where):
                    if not isinstance(chunk, list) or len(chunk) < 7 or not all(type(n) is int for n in chunk) or chunk[4] not in (1, 2, 4, 8):
                        self._fail(f"the report is damaged: {where}: expected a chunk of seven whole numbers, found {json.dumps(chunk)[:60]}")
        return index

    def _part(self, whole, name, kind, where):
        """A part of what JSON gave. Fails if it is missing, or of another type."""
        try:
            value = whole[name]
        except (KeyError, IndexError, TypeError):
            self._fail(f"the report is damaged: {where}: {name!r} is missing")
        if not isinstance(value, kind) or isinstance(value, bool) and kind is not bool:
            self._fail(f"the report is damaged: {where}: expected {_KINDS[kind]} for {name!r}, found {json.dumps(value)[:60]}")
        return value

    def _inflate(self, piece, what):
        try:
            offset, stored, size, crc = piece[:4]
            data = self._bytes[offset:offset + stored]
            if zlib.crc32(data) != crc:
                self._fail(f"the report is damaged: {what}: its checksum does not fit the bytes {offset} to {offset + stored}")
            raw = zlib.decompress(data, bufsize=max(1, size))
        except (TypeError, ValueError, zlib.error) as error:
            if isinstance(error, ReportError):
                raise
            self._fail(f"the report is damaged: {what}: {error}")
        if len(raw) != size:
            self._fail(f"the report is damaged: {what}: {len(raw)} bytes, expected {size}")
        return raw

    def _json(self, piece, what):
        try:
            return json.loads(self._inflate(piece, what))
        except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
            self._fail(f"the report is damaged: {what}: {error}")

    def document(self, name):
        """A document (JSON) of the file. Raises KeyError for one that it does not have."""
        return self._json(self._index["documents"][name], name)

    def __getitem__(self, name):
        return self._document[name]

    @property
    def version(self):
        """Of the file's format."""
        return _VERSION

    @property
    def tables(self):
        """The names of the file's tables."""
        return list(self._index["tables"])

    def __getattr__(self, name):
        if name.startswith("_") or name not in self._index["tables"]:
            raise AttributeError(f"the report has no table {name!r}; it has {', '.join(self._index['tables'])}")
        return self.table(name)

    def __dir__(self):
        return [*super().__dir__(), *self._index["tables"]]

    def table(self, name):
        """A table as a pandas.DataFrame, or as `Columns` where pandas is not installed. Raises KeyError for one that the file does not have."""
        if name not in self._tables:
            spec = self._index["tables"][name]
            self._tables[name] = _frame({column: self._column(name, column, spec) for column in spec["columns"]})
        return self._tables[name]

    def _column(self, table, column, spec):
        import numpy as np

        what, about = f"{table}.{column}", spec["columns"][column]
        real = about["holds"] == "real"
        parts = []
        for chunk in about["chunks"]:
            raw, (width, base, sums) = self._inflate(chunk, what), chunk[4:7]
            if len(raw) % (8 if real else width):
                self._fail(f"the report is damaged: {what}: a chunk of {len(raw)} bytes has no whole number of values of {8 if real else width}")
            values = np.frombuffer(raw, "<f8" if real else f"<u{width}")
            if not real:
                values = values.astype(np.int64)
                values = base + (np.cumsum(values) if sums else values)
            parts.append(values)
        values = np.concatenate(parts) if parts else np.empty(0, np.float64 if real else np.int64)
        if len(values) != spec["rows"]:
            self._fail(f"the report is damaged: {what}: {len(values)} values, the table has {spec['rows']} rows")
        if about["holds"] == "maybe_row":
            return values - 1
        if about["holds"] != "text":
            return values
        if self._strings is None:
            self._part(self._index["documents"], "strings", list, "documents")
            self._strings = self.document("strings")
            self._part((self._strings,), 0, list, "strings")
        try:
            return [self._strings[i] for i in values]
        except IndexError:
            self._fail(f"the report is damaged: {what}: it names a text that is not there")

    def rows_of(self, table, column, row):
        """The rows [begin, end) of another table that belong to a row: of a column that holds `end`."""
        ends = self.table(table)[column]
        return (int(ends[row - 1]) if row > 0 else 0), int(ends[row])

    def ask(self, query, top=10):
        """The answer of `pando report FILE --json QUERY --top TOP` as a dict. Raises ReportError with what the command says is wrong."""
        import subprocess

        from pando._command import program

        done = subprocess.run([program(), "report", self.path, "--json", query, "--top", str(top)], capture_output=True, text=True)
        if done.returncode != 0:
            raise ReportError(done.stderr.strip())
        return json.loads(done.stdout)

    def _facts(self):
        target, graph = self["target"], self["graph"]
        yield "machine", f"{target['name']}, {target['ipus']} x {target['tiles_per_ipu']:,} tiles"
        yield "graph", f"{graph['variables']:,} variables, {graph['vertices']:,} vertices, {graph['compute_sets']:,} compute sets"
        if self["out_of_memory"]:
            yield "out of memory", self["out_of_memory"].splitlines()[0]
        if self["executed"]:
            yield "cycles", f"{self['total_cycles']:,} in {self['runs']:,} run{'s' if self['runs'] != 1 else ''}"
        for finding in self.document("advice")[:5]:
            yield f"advice ({finding['cost']:.0%} of {finding['unit']})", finding["title"]

    def __repr__(self):
        return "\n".join([f"report {self.path}", *(f"  {name}: {value}" for name, value in self._facts())])

    def _repr_html_(self):
        import html

        rows = "".join(f"<tr><th style='text-align:left'>{html.escape(name)}</th><td style='text-align:left'>{html.escape(value)}</td></tr>"
                       for name, value in self._facts())
        return f"<table><caption>{html.escape(self.path)}</caption>{rows}</table>"


def open(path):
    """Opens a report file (`profile.pando`), or the one in a folder. Raises OSError, and ReportError for what is not a report."""
    path = os.fspath(path)
    return Report(os.path.join(path, "profile.pando") if os.path.isdir(path) else path)
