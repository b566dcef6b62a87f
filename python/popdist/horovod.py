"""What PopTorch programs take of `horovod.torch`, over the instances that poprun has started. One process is rank 0 of 1.

Programs write `import horovod.torch as hvd`. Where no Horovod is installed, that finds this module, once popdist has been imported.
"""
import importlib.abc
import importlib.machinery
import sys

# Of `allreduce`.
Average, Sum, Min, Max, Product = "mean", "sum", "min", "max", "prod"


def init(*args, **kwargs):
    """Connects this instance with the others: `popdist.init()`."""
    import popdist

    popdist.init()


def shutdown():
    """Nothing: instances part when their programs end."""


def is_initialized():
    return True


def rank():
    """The number of this instance."""
    import popdist

    return popdist.getInstanceIndex()


def size():
    """How many instances there are."""
    import popdist

    return popdist.getNumInstances()


def local_rank():
    """The number of this instance on its host."""
    import popdist

    return popdist.getLocalInstanceIndex()


def local_size():
    """How many instances its host has."""
    import os

    return int(os.environ.get("OMPI_COMM_WORLD_LOCAL_SIZE", 1))


def allreduce(tensor, average=None, name=None, op=None, **kwargs):
    """The mean of a tensor over the instances; with average=False or op=Sum the sum."""
    from popdist import collectives

    return collectives.all_reduce(tensor, op or (Sum if average is False else Average))


def allreduce_(tensor, average=None, name=None, op=None, **kwargs):
    """`allreduce` in place."""
    tensor.data.copy_(allreduce(tensor, average, name, op))
    return tensor


def allgather(tensor, name=None, **kwargs):
    """Tensors of all instances one behind the other; their first dimensions may differ."""
    import torch

    from popdist import collectives

    return torch.cat(collectives.all_gather_object(tensor.detach().cpu()))


def broadcast(tensor, root_rank, name=None, **kwargs):
    """The tensor of an instance, on all of them."""
    from popdist import collectives

    return collectives.broadcast(tensor, root_rank)


def broadcast_(tensor, root_rank, name=None, **kwargs):
    """`broadcast` in place."""
    tensor.data.copy_(broadcast(tensor, root_rank))
    return tensor


def broadcast_parameters(params, root_rank):
    """Gives all instances the parameters of one of them.

    Args:
        params: a `state_dict()`, or what `named_parameters()` gives.
        root_rank: the instance.
    """
    items = params.items() if isinstance(params, dict) or hasattr(params, "items") else list(params)
    for _, tensor in sorted(items, key=lambda item: item[0]):
        if hasattr(tensor, "detach"):
            broadcast_(tensor, root_rank)


def broadcast_optimizer_state(optimizer, root_rank):
    """Gives all instances the state of an optimizer of one of them."""
    optimizer.load_state_dict(broadcast_object(optimizer.state_dict(), root_rank))


def broadcast_object(obj, root_rank=0, name=None):
    """An object of an instance, on all of them."""
    from popdist import collectives

    return collectives.broadcast_object(obj, root_rank)


def allgather_object(obj, name=None):
    """Objects of all instances, a list."""
    from popdist import collectives

    return collectives.all_gather_object(obj)


def barrier(*args, **kwargs):
    """Returns when all instances have come here."""
    import popdist

    popdist.synchronize()


def join(*args, **kwargs):
    """`barrier`, and the number of the last instance."""
    barrier()
    return size() - 1


class _Loader(importlib.abc.Loader):
    """Makes `horovod`, an empty package, and `horovod.torch`, which is this module."""

    def create_module(self, spec):
        return sys.modules[__name__] if spec.name == "horovod.torch" else None

    def exec_module(self, module):
        if module.__name__ == "horovod":
            module.__doc__ = "No Horovod is installed: popdist stands in for it."


class _Finder(importlib.abc.MetaPathFinder):
    """The last to be asked: an installed Horovod comes first."""

    def find_spec(self, name, path=None, target=None):
        if name == "horovod":
            return importlib.machinery.ModuleSpec(name, _Loader(), is_package=True)
        if name == "horovod.torch" and getattr(sys.modules.get("horovod"), "__spec__", None) is not None \
                and isinstance(sys.modules["horovod"].__spec__.loader, _Loader):
            return importlib.machinery.ModuleSpec(name, _Loader())
        return None


def _stand_in():
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.append(_Finder())
