"""What PopTorch programs take of popdist: their options."""
import popdist
import poptorch
from popdist.popart import _check

__all__ = ["Options"]


def _blocked(name):
    def reject(self, *args, **kwargs):
        raise RuntimeError(f"Cannot call `{name}` with popdist.poptorch.Options: poprun says what it would set.")

    reject.__doc__ = "Rejected (RuntimeError): poprun says what it would set."
    return reject


class _Distributed(poptorch.options._DistributedOptions):
    """Which of the instances this process is."""

    def _read(self):
        self._values["num_distributed_processes"] = popdist.getNumInstances()
        self._values["distributed_process_id"] = popdist.getInstanceIndex()

    disable = _blocked("Distributed.disable")
    setEnvVarNames = _blocked("Distributed.setEnvVarNames")
    configureProcessId = _blocked("Distributed.configureProcessId")


class Options(poptorch.Options):
    """`poptorch.Options` of a program that poprun starts: the replication factor is that of this instance, and the replicas of all instances train
    one model together. A `poptorch.DataLoader` gives each instance its part of the data.

    Args:
        ipus_per_replica: IPUs of a replica.

    Raises:
        RuntimeError: poprun was told of another number of IPUs.
    """

    def __init__(self, ipus_per_replica=1):
        _check(ipus_per_replica)
        super().__init__()
        object.__setattr__(self, "_distributed", _Distributed())
        self._set(replication_factor=popdist.getNumLocalReplicas())
        object.__setattr__(self, "_ipus_per_replica", ipus_per_replica)

    @property
    def total_replicas(self):
        """Replicas of all instances."""
        return popdist.getNumTotalReplicas()

    useIpuId = _blocked("useIpuId")
    replicationFactor = _blocked("replicationFactor")
