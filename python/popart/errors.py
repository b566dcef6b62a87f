"""The exceptions that programs catch. `popart_exception` is the one that the model level throws."""
from popxl._core import popart_exception


class poplar_exception(RuntimeError):
    """What the graph level refuses."""


class poplar_runtime_error(poplar_exception):
    """What goes wrong while a program runs."""


class poplar_application_runtime_error(poplar_runtime_error):
    """What the program itself did wrong, such as a value out of its range."""


class poplar_system_runtime_error(poplar_runtime_error):
    """What went wrong around the program."""
