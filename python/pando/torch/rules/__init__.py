"""The rules, by family. A file registers its rules when it is imported."""
from pando.torch.rules import creation, elementwise, index, linear, norm, pool, reduction, shape, update  # noqa: F401
