"""Weights that differ between groups of replicas: what `executor.weight.replicaGrouping(...)` says, before the model is compiled."""
import torch

from poptorch import enums
from poptorch.errors import createPoptorchError


def stride_and_size(comm_group_type, shards, replicas):
    """How far apart the replicas of a group lie, and how many there are.

    Args:
        comm_group_type: All; Consecutive: replicas 0 to shards-1 are a group; Orthogonal: those that lie replicas/shards apart; NoGrouping: each is one.
        shards: replicas of a group, of Consecutive and Orthogonal.

    Raises:
        poptorch.Error: a number that does not divide the replicas.
    """
    if comm_group_type == enums.CommGroupType.All:
        return 1, replicas
    if comm_group_type == enums.CommGroupType.NoGrouping:
        return 1, 1
    if not isinstance(shards, int) or shards < 1 or replicas % shards:
        raise createPoptorchError(f"replicaGrouping: groups of {shards} replicas do not divide the {replicas} of Options.replicationFactor.")
    return (1 if comm_group_type == enums.CommGroupType.Consecutive else replicas // shards), shards


class Groupable:
    """A parameter of a model that an executor runs."""

    def replicaGrouping(self, comm_group_type, shards, variable_retrieval_mode):
        """Replicas of a group share this weight; it has a first dimension with one entry for each group, and the model sees one entry.

        Args:
            comm_group_type: poptorch.CommGroupType.
            shards: replicas of a group.
            variable_retrieval_mode: poptorch.VariableRetrievalMode; the host gets one entry for each group: within a group they are equal.

        Raises:
            poptorch.Error: a model that is compiled, or groups that do not divide the replicas.
        """
        assert isinstance(comm_group_type, enums.CommGroupType), "comm_group_type is a poptorch.CommGroupType"
        assert isinstance(variable_retrieval_mode, enums.VariableRetrievalMode), "variable_retrieval_mode is a poptorch.VariableRetrievalMode"
        self._executor_of_groups()._set_grouping(self, comm_group_type, shards)


class Alias(Groupable, torch.nn.Parameter):
    """What an executor for inference gives in place of a parameter: the same memory."""

    @classmethod
    def of(cls, parameter, executor):
        alias = cls(parameter.detach(), parameter.requires_grad)
        alias._executor_of_groups = lambda: executor
        return alias

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        with torch._C.DisableTorchFunctionSubclass():
            return function(*args, **(kwargs or {}))
