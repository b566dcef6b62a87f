"""What PopART and PopXL programs take of popdist."""
import popdist

__all__ = ["getDevice", "configureSessionOptions"]


def getDevice(ipus_per_replica=1, connection_type=None):
    """The device of this instance: emulated IPUs for all replicas of the program. (An instance holds its own replicas alone.)

    Raises:
        RuntimeError: poprun was told of other replicas.
    """
    import popart

    _check(ipus_per_replica)
    return popart.DeviceManager().createIpuModelDevice({"numIPUs": ipus_per_replica * popdist.getNumTotalReplicas()})


def _check(ipus_per_replica):
    if not popdist.checkNumIpusPerReplica(ipus_per_replica):
        raise RuntimeError(f"Replicas of {ipus_per_replica} IPUs are asked for; poprun was told of {popdist.getNumIpusPerReplica()} "
                           "(--ipus-per-replica).")


def configureSessionOptions(opts):
    """Sets what a session has to know of the instances: replicas of this one and of all, the number of the first of this one."""
    local, total = popdist.getNumLocalReplicas(), popdist.getNumTotalReplicas()
    opts.enableReplicatedGraphs = local > 1
    opts.replicatedGraphCount = local
    opts.enableDistributedReplicatedGraphs = total > local
    opts.globalReplicaOffset = popdist.getReplicaIndexOffset()
    opts.globalReplicationFactor = total
