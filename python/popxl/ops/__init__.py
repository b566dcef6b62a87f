"""Functions that add ops to the current graph.

All of them raise TypeError for what is not a tensor, ValueError for a tensor of another graph or for tensors that lie on different IPUs or tile sets,
RuntimeError without a current graph, and popart.popart_exception for shapes and element types that do not fit. A name that ends with an underscore changes
its first tensor; what it returns is another name of that tensor.
"""
# The functions come after the modules of the same names: `ops.call` is the function, `import popxl.ops.call` the module.
from popxl.ops import collectives, var_updates  # noqa: F401
from popxl.ops._functions import *  # noqa: F401,F403
from popxl.ops._functions import __all__ as _functions

# Three are left out of what `import *` brings: that is part of the interface.
__all__ = [name for name in _functions if name not in ("floor", "log2", "remote_code_load")] + ["collectives", "var_updates"]
