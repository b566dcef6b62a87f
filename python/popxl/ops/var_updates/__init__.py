"""Ops that change their first tensor, as optimizers need them. There is no broadcasting; element types may differ, and scalars are numbers or tensors."""
from popxl.ops.var_updates._functions import *  # noqa: F401,F403
from popxl.ops.var_updates._functions import __all__  # noqa: F401
