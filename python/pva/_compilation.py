"""What the compiler made: the target, memory by tile and step, compute sets, programs."""
import enum

from pva._data import NO_STEPS, Of
from pva._programs import LivenessVariable, SequenceProgram


class IPU:
    """Kinds of machines."""

    class Architecture(str, enum.Enum):
        """The name of an architecture, which is a text, too."""

        Ipu1 = "ipu1"
        Ipu2 = "ipu2"
        Ipu21 = "ipu21"

        __str__ = str.__str__
        __format__ = str.__format__


class Graph(Of):
    """Counts of the user's graph."""

    numVars, numVertices, numComputeSets, numEdges = (property(lambda self, part=part: self._data.report["graph"][part])
                                                      for part in ("variables", "vertices", "compute_sets", "edges"))


class Target(Of):
    """The machine. IPUs, tiles and memory are those of one replica."""

    class Type(enum.Enum):
        Ipu = 0
        IpuModel = 1
        Cpu = 2
        Unknown = 3

    @property
    def type(self):
        """IpuModel, whatever device ran the program; Cpu for the CPU target."""
        return Target.Type.Cpu if self._data.report["target"]["name"] == "cpu" else Target.Type.IpuModel

    @property
    def architecture(self):
        """An IPU.Architecture; of a machine that is none of them its name."""
        name = self._data.report["target"]["name"]
        return IPU.Architecture(name) if name in IPU.Architecture._value2member_map_ else name

    numIPUs, tilesPerIpu, numTiles, numReplicas, bytesPerTile, clockFrequency = (
        property(lambda self, part=part: self._data.report["target"][part])
        for part in ("ipus", "tiles_per_ipu", "tiles", "replicas", "bytes_per_tile", "clock_hz"))

    @property
    def bytesPerIPU(self):
        return self.bytesPerTile * self.tilesPerIpu

    @property
    def totalMemory(self):
        return self.bytesPerTile * self.numTiles

    ipusPerReplica, tilesPerReplica, memoryPerReplica = (property(lambda self, part=part: getattr(self, part))
                                                         for part in ("numIPUs", "numTiles", "totalMemory"))


class Compilation(Of):
    @property
    def graph(self):
        return Graph(self._data)

    @property
    def target(self):
        return Target(self._data)

    @property
    def tiles(self):
        return [Tile(self._data, i) for i in range(len(self._data.column("tiles", "used")))]

    @property
    def ipus(self):
        return [Ipu(self._data, i) for i in range(self._data.report["target"]["ipus"])]

    @property
    def computeSets(self):
        """Those that a program executes."""
        return [ComputeSet(self._data, i) for i in range(len(self._data.column("compute_sets", "name")))]

    @property
    def programs(self):
        """Steps, loops, branches, functions and calls in the order of the program; what stands around others comes before them."""
        out = []
        for row, kind in enumerate(self._data.column("program", "kind")):
            out.append(self._data.program(row))
            if kind == "loop":
                out.append(SequenceProgram(self._data, row))
        return out

    @property
    def livenessProgramSteps(self):
        """The steps that have memory, with what is live at each."""
        return [LivenessProgramStep(self._data, row) for row, kind in enumerate(self._data.column("program", "kind")) if kind not in NO_STEPS]

    @property
    def alwaysLiveVariables(self):
        """What is live at every step, over all tiles, largest first."""
        return _variables(self._data, None, None)

    def alwaysLiveVariablesForTile(self, tile):
        """The same on one tile. Raises IndexError for a tile that is not there."""
        return _variables(self._data, self._data.tile(tile), None)

    @property
    def loweredVariables(self):
        return LoweredVariables(self._data)

    @property
    def outOfMemory(self):
        """Why the program does not fit; empty if it does."""
        return self._data.report["out_of_memory"]


def _variables(data, tiles, order):
    """LivenessVariables, largest first."""
    found = sorted(data.live(tiles, order).items(), key=lambda item: (-item[1], item[0]))
    return [LivenessVariable(data, v, n) for v, n in found if n > 0]


class Ipu(Of):
    """One IPU: its number and its tiles."""

    @property
    def id(self):
        return self._index

    @property
    def tiles(self):
        return [Tile(self._data, i) for i in self._data.tiles_of_ipu(self._index)]


class Tile(Of):
    @property
    def id(self):
        return self._index

    @property
    def memory(self):
        return TileMemory(self._data, self._index)


class MemoryTotal(int):
    """A tile's memory in use at its fullest step, without gaps; as a number the same."""

    def __new__(cls, used, with_gaps):
        total = super().__new__(cls, used)
        total.excludingGaps, total.includingGaps = used, with_gaps
        return total


class TileMemory(Of):
    @property
    def total(self):
        return MemoryTotal(self._data.column("tiles", "used")[self._index], self._data.column("tiles", "with_gaps")[self._index])

    @property
    def overflowed(self):
        """What does not fit: bytes beyond the tile's memory, without gaps and with them, as `total` has them."""
        limit = self._data.report["target"]["bytes_per_tile"] or self.total.includingGaps
        return MemoryTotal(max(0, self.total.excludingGaps - limit), max(0, self.total.includingGaps - limit))

    @property
    def alwaysLiveBytes(self):
        """Bytes that are live at every step."""
        return self._data.column("tiles", "always_live")[self._index]

    @property
    def notAlwaysLiveBytes(self):
        """The most of others that are live at one step."""
        return self.total.excludingGaps - self.alwaysLiveBytes

    @property
    def category(self):
        return MemoryCategories(self._data, self._index)

    @property
    def vertices(self):
        """The vertices on the tile, by the codelets' names."""
        groups = range(len(self._data.column("vertex_groups", "count")))
        tiles = range(self._index, self._index + 1)
        return [VertexInstances(self._data, c, n, groups, tiles) for c, n in self._data.vertices(groups, tiles)]


class MemoryRegion(Of):
    """Bytes at the tile's fullest step. None share their place with others here: `overlapped` is 0."""

    overlapped = 0

    @property
    def nonOverlapped(self):
        return self._index


class MemoryCategory(Of):
    """One category of a tile's memory. Regions of memory are not told apart: all of it counts as not interleaved."""

    @property
    def total(self):
        return self._index

    @property
    def nonInterleaved(self):
        return MemoryRegion(self._data, self._index)

    @property
    def interleaved(self):
        return MemoryRegion(self._data, 0)

    overflowed = interleaved


class MemoryCategories(Of):
    """The categories under their public names. What is described in the state of vertices here has no bytes of its own."""

    def _of(self, name):
        categories = self._data.categories
        bytes_of = self._data.column("tile_categories", "bytes")
        return MemoryCategory(self._data, bytes_of[self._index * len(categories) + categories.index(name)] if name in categories else 0)

    (variable, constant, stack, vertexCode, vertexInstanceState, controlCode, internalExchangeCode, message, copyDescriptor, vectorListDescriptor,
     vertexFieldData) = (property(lambda self, name=name: self._of(name))
                         for name in ("variable", "constant", "stack", "vertex code", "vertex state", "control code", "exchange code", "exchange buffer",
                                      "", "", ""))


class VertexType(Of):
    @property
    def name(self):
        """Of the codelet."""
        return self._data.column("codelets", "name")[self._index]


class VertexInstances(Of):
    """The vertices of one codelet in a compute set, or on a tile."""

    def __init__(self, data, codelet, count, groups, tiles):
        super().__init__(data, codelet)
        self.count = count
        self._groups, self._tiles = groups, tiles

    @property
    def _key(self):
        return VertexInstances, self._index, self._groups, self._tiles

    @property
    def countByTile(self):
        """How many are on each tile."""
        out = [0] * self._data.report["target"]["tiles"]
        begin, end, count, codelet = (self._data.column("vertex_groups", c) for c in ("begin", "end", "count", "codelet"))
        for group in self._groups:
            if codelet[group] == self._index:
                for tile in range(max(begin[group], self._tiles.start), min(end[group], self._tiles.stop)):
                    out[tile] += count[group]
        return out

    @property
    def type(self):
        return VertexType(self._data, self._index)

    @property
    def codeBytes(self):
        """Of the codelet's code on the tile, in bytes; estimated. Raises ValueError for vertices of a compute set, which are on many tiles."""
        if len(self._tiles) != 1:
            raise ValueError("the vertices of a compute set are on many tiles; TileMemory.vertices has the code of each")
        return self._data.code_bytes(self._tiles.start).get(self.type.name, 0)


class ComputeSet(Of):
    @property
    def name(self):
        return self._data.column("compute_sets", "name")[self._index]

    @property
    def vertices(self):
        """On all tiles, by the codelets' names."""
        groups, tiles = self._data.rows_of("compute_sets", "groups", self._index), range(self._data.report["target"]["tiles"])
        return [VertexInstances(self._data, c, n, groups, tiles) for c, n in self._data.vertices(groups, tiles)]

    @property
    def estimatedCyclesByTile(self):
        """Of one execution. Raises ValueError if the report has none."""
        return self._data.estimated_cycles_by_tile(self._data.executed_sets.get(self._index), self.name)


class LivenessProgramStep(Of):
    """A step that has memory, in the order of the program."""

    @property
    def program(self):
        return self._data.program(self._index)

    @property
    def notAlwaysLiveMemory(self):
        """Over all tiles."""
        return LivenessMemory(self._data, self._index, None)

    def notAlwaysLiveMemoryForTile(self, tile):
        """On one tile. Raises IndexError for a tile that is not there."""
        return LivenessMemory(self._data, self._index, self._data.tile(tile))

    def notAlwaysLiveMemoryForIpu(self, ipu):
        """On the tiles of one IPU. Raises IndexError for an IPU that is not there."""
        return LivenessMemory(self._data, self._index, self._data.tiles_of_ipu(ipu))


class LivenessMemory(Of):
    """What is live at a step, and not at every step."""

    def __init__(self, data, row, tiles):
        super().__init__(data, row)
        self._tiles = tiles

    @property
    def _key(self):
        return LivenessMemory, self._index, self._tiles

    @property
    def _order(self):
        return self._data.column("program", "order")[self._index]

    @property
    def bytes(self):
        if self._tiles is None:  # the report has the sum of each step
            return self._data.live_bytes.get(self._order, 0)
        return sum(self._data.live(self._tiles, self._order).values())

    @property
    def variables(self):
        """Largest first."""
        return _variables(self._data, self._tiles, self._order)


class StepInterval:
    """Steps from `start` on and before `end`: positions in `Compilation.livenessProgramSteps`."""

    def __init__(self, start, end):
        self.start, self.end = start, end

    def __repr__(self):
        return f"StepInterval({self.start}, {self.end})"


class EquivalenceClass(Of):
    """What is live at the same steps. 0 is what is live at every step."""

    @property
    def id(self):
        return self._index

    @property
    def steps(self):
        return [StepInterval(start, end) for start, end in self._data.positions(self._index)]


class LoweredVariable(Of):
    """A piece of a tile's memory: of a variable, a buffer, code, a stack."""

    def _of(self, column):
        return self._data.column("allocations", column)[self._index]

    @property
    def id(self):
        return self._index

    _id = id
    bytes, offset, tileId = (property(lambda self, column=column: self._of(column)) for column in ("size", "offset", "tile"))

    @property
    def name(self):
        return self._data.column("variables", "name")[self._of("variable")]

    @property
    def category(self):
        """As the report names it: "variable", "vertex code" ..."""
        return self._data.categories[self._data.column("variables", "category")[self._of("variable")]]

    @property
    def equivalenceClass(self):
        return EquivalenceClass(self._data, self._of("live") + 1)

    @property
    def alwaysLive(self):
        return self._of("live") < 0

    @property
    def hasUnloweredVar(self):
        """Whether it is a part of a variable of the graph."""
        return self.category in ("variable", "constant")

    @property
    def unloweredVar(self):
        """That variable, a LivenessVariable with its bytes on this tile. Raises ValueError if there is none."""
        if not self.hasUnloweredVar:
            raise ValueError(f"{self.name!r} is no part of a variable of the graph: its category is {self.category!r}")
        variable, size = self._data.column("allocations", "variable"), self._data.column("allocations", "size")
        rows = self._data.rows_of("tiles", "allocations", self.tileId)
        own = variable[self._index]
        return LivenessVariable(self._data, own, sum(size[row] for row in rows if variable[row] == own))


class LoweredVariables(Of):
    """The address map of all tiles."""

    def forTile(self, tile):
        """Of a tile, by address. Raises IndexError for a tile that is not there."""
        return [LoweredVariable(self._data, row) for row in self._data.rows_of("tiles", "allocations", self._data.tile(tile))]

    @property
    def allBriefVars(self):
        """Of all tiles, by tile and address."""
        return [LoweredVariable(self._data, row) for row in range(len(self._data.column("allocations", "size")))]
