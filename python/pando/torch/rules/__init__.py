"""The rules, by family. A file registers its rules when it is imported."""
from pando.torch.rules import branch, collective, creation, elementwise, host, index, linear, norm, pool, reduction, resize, shape, special, update  # noqa: F401
from pando.torch.rules import complex, fourier  # noqa: F401  (they lift the rules above)
