"""The options of a program, as PopART names them. Those that concern how a device is driven have no effect here; the others are honoured."""
import os

from popxl import _instances

from .enums import VirtualGraphMode

_DEFAULTS = {
    # Honoured by popxl and its sessions.
    "enableInplaceAmbiguityChecking": True,
    "throwIfLog2ScaleTensorNotInRange": False,
    "partialsTypeMatMuls": "",
    "numIOTiles": 0,
    # 0: ops that nobody has ordered stay as the program lists them.
    "swapLimitScheduler": -1,
    "enableEngineCaching": False,
    "cachePath": "session_cache",
    "engineOptions": dict,
    "constantWeights": False,
    "dotChecks": set,
    "logDir": ".",
    # What programs set because PopART's own builder needs it; here it is always so, or makes no difference.
    "aliasZeroCopy": True,
    "enableExplicitMainLoops": True,
    "explicitRecomputation": True,
    "useHostCopyOps": True,
    "virtualGraphMode": VirtualGraphMode.Manual,
    "enableExplicitIR": True,
    "enableMergeExchange": False,
    "enablePrefetchDatastreams": True,
    "enableStochasticRounding": False,
    "enableFloatingPointChecks": False,
    "enableStableNorm": False,
    "reportOptions": dict,
    "convolutionOptions": dict,
    "matmulOptions": dict,
    "enableDistributedReplicatedGraphs": False,
    "globalReplicationFactor": 1,
    "globalReplicaOffset": 0,
}


# Which of all replicas this process runs.
_INSTANCES = ("enableDistributedReplicatedGraphs", "globalReplicationFactor", "globalReplicaOffset")


class SessionOptions:
    """A name that is not an option is rejected, rather than kept and ignored."""

    __slots__ = ("_ir", "_values", "_replicated")

    def __init__(self, ir):
        object.__setattr__(self, "_ir", ir)
        object.__setattr__(self, "_values", {k: v() if isinstance(v, type) else v for k, v in _DEFAULTS.items()})
        object.__setattr__(self, "_replicated", ir.instance_replication_factor > 1)
        cache = os.environ.get("POPXL_CACHE_DIR")
        if cache is not None:
            self._values.update(enableEngineCaching=True, cachePath=cache)

    def __getattr__(self, name):
        if name == "replicatedGraphCount":
            return self._ir.instance_replication_factor
        if name == "enableReplicatedGraphs":
            return self._replicated or self._ir.instance_replication_factor > 1
        if name in _INSTANCES and self._ir._local_replicas is not None:
            return {"enableDistributedReplicatedGraphs": True, "globalReplicationFactor": self._ir.replication_factor,
                    "globalReplicaOffset": _instances.first_replica()}[name]
        if name not in self._values:
            raise AttributeError(f"there is no session option {name!r}")
        return self._values[name]

    def __setattr__(self, name, value):
        if name == "replicatedGraphCount":
            self._ir.replication_factor = value
        elif name == "enableReplicatedGraphs":
            object.__setattr__(self, "_replicated", bool(value))
        elif name not in self._values:
            raise AttributeError(f"there is no session option {name!r}; there are {', '.join(sorted(self._values))}")
        else:
            self._values[name] = value
            if name in _INSTANCES and self._values["enableDistributedReplicatedGraphs"] and self._values["globalReplicationFactor"] > 1:
                self._ir._share(self._values["globalReplicationFactor"])

    def _partials_type(self):
        """What products add up in where they do not say it themselves: a popxl.dtype, or None."""
        name = self.partialsTypeMatMuls
        if name == "":
            return None
        if name not in ("half", "float"):
            raise ValueError(f"partialsTypeMatMuls is 'half', 'float' or '', not {name!r}")
        import popxl
        return popxl.float16 if name == "half" else popxl.float32

    def __dir__(self):
        return [*self._values, "enableReplicatedGraphs", "replicatedGraphCount"]
