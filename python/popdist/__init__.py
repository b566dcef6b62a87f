"""Where a program runs that `poprun` starts as several processes ("instances"), each with some of its replicas.

Everything is read from the environment that poprun sets; a program that is started without it is instance 0 of 1. Instances make the same calls in
the same order: what one waits for comes from another one's call of the same function.

    import popdist
    import popxl

    popdist.init()
    ir = popxl.Ir(replication="popdist")        # replicas of all instances; this one runs getNumLocalReplicas() of them

`popdist.collectives` are sums, gathers and broadcasts of arrays of the host, `popdist.poptorch` has the options of PopTorch programs,
`popdist.popart` those of PopART ones. Where no Horovod is installed, `import horovod.torch` finds `popdist.horovod`.
"""
import os as _os

from popdist import horovod
from popxl import _instances

__all__ = ["init", "isPopdistEnvSet", "getInstanceIndex", "getLocalInstanceIndex", "getNumInstances", "getNumTotalReplicas", "getNumLocalReplicas",
           "getReplicaIndexOffset", "getNumIpusPerReplica", "checkNumIpusPerReplica", "getDeviceId", "synchronize", "execute_on_instances"]

horovod._stand_in()


def isPopdistEnvSet():
    """Whether poprun started this process."""
    return "POPDIST_NUM_TOTAL_REPLICAS" in _os.environ


def init():
    """Connects this instance with the others. It returns when all have come here; further calls do nothing.

    Raises:
        RuntimeError: the others have not come within the time of `poprun --timeout`, or MPI cannot be loaded.
    """
    if isPopdistEnvSet():
        _instances.connection()


def getInstanceIndex():
    """The number of this instance, from 0 on."""
    return _instances.index()


def getLocalInstanceIndex():
    """The number of this instance among those of its host, from 0 on."""
    return _instances.number("POPDIST_LOCAL_INSTANCE_INDEX", 0)


def getNumInstances():
    """How many instances there are."""
    return _instances.count()


def getNumTotalReplicas():
    """How many replicas all instances have together."""
    return _instances.total_replicas()


def getNumLocalReplicas():
    """How many replicas this instance runs."""
    return _instances.local_replicas()


def getReplicaIndexOffset():
    """The number of this instance's first replica among those of all instances."""
    return _instances.first_replica()


def getNumIpusPerReplica():
    """How many IPUs a replica has; 1 where nobody has said it."""
    return _instances.number("POPDIST_NUM_IPUS_PER_REPLICA", 1)


def checkNumIpusPerReplica(ipus_per_replica):
    """Whether a replica has as many IPUs as poprun was told. Without poprun: True."""
    return _instances.number("POPDIST_NUM_IPUS_PER_REPLICA", ipus_per_replica) == ipus_per_replica


def getDeviceId(ipusPerReplica=0):
    """The number of the device that this instance uses. Emulated devices have no others beside them: 0."""
    return 0


def synchronize():
    """Returns when all instances (of `execute_on_instances`: those that take part) have come here.

    Raises:
        RuntimeError: one of them has failed, has ended or does not come.
    """
    _instances.all_gather(b"", "popdist.synchronize()")


def execute_on_instances(instances, func, *args, **kwargs):
    """Calls a function on some instances alone. Host collectives and `synchronize` inside of it concern these instances.

    Args:
        instances: their numbers, a set.
        func, args, kwargs: the function and its arguments.

    Returns:
        what the function returns; None on other instances.

    Raises:
        ValueError: a number that no instance has.
    """
    members = sorted(set(instances))
    wrong = [i for i in members if not isinstance(i, int) or not 0 <= i < getNumInstances()]
    if wrong:
        raise ValueError(f"There is no instance {wrong[0]!r}: there are {getNumInstances()}, from 0 on.")
    if getInstanceIndex() not in members:
        return None
    with _instances.among(members):
        return func(*args, **kwargs)
