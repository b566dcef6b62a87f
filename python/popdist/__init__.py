"""Where a program runs that could be one of several instances: here, one process is instance 0 of 1."""


def isPopdistEnvSet():
    """Whether the program was started as one of several instances."""
    return False


def getInstanceIndex():
    return 0


def getNumInstances():
    return 1


def getNumTotalReplicas():
    return 1


def getNumLocalReplicas():
    return 1


def getReplicaIndexOffset():
    return 0
