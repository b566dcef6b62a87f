"""What programs and tests ask of PopTorch's native part."""
import enum

from poptorch import option_log
from poptorch.errors import Error, RecoverableError, UnrecoverableError  # noqa: F401
from poptorch.options import OWN
from poptorch.tracing import is_tracing


class TestErrorType(enum.IntEnum):
    """Errors that can be thrown on purpose."""

    Poptorch = 0
    Popart = 1
    PopartInternal = 2
    Poplibs = 3
    PoplarUnrecoverable = 4
    PoplarUnknown = 5
    PoplarRecoverableFullReset = 6
    PoplarLinkError = 7


_TYPES = {TestErrorType.Poptorch: "poptorch_cpp_error", TestErrorType.Popart: "popart_exception", TestErrorType.PopartInternal: "popart_internal_exception",
          TestErrorType.Poplibs: "poplibs_exception", TestErrorType.PoplarUnrecoverable: "poplar_unrecoverable_runtime_error",
          TestErrorType.PoplarUnknown: "poplar_unknown_runtime_error", TestErrorType.PoplarRecoverableFullReset: "poplar_recoverable_runtime_error",
          TestErrorType.PoplarLinkError: "poplar_link_error"}


def _throwTestError(kind):
    """Raises an error of a kind, as a program would meet it."""
    kind = TestErrorType(kind)
    cls = {TestErrorType.PoplarUnrecoverable: UnrecoverableError, TestErrorType.PoplarRecoverableFullReset: RecoverableError}.get(kind, Error)
    message = "Poplar: -lfoo not found" if kind == TestErrorType.PoplarLinkError else "This is a test error"
    raise cls(message, _TYPES[kind], "throwTestError::bottomLevel throwTestError::topLevel")


def _validateOptions(options):
    """Says all options in the log. Raises Error for options of PopART's that are not known, and for values of types that no option has.

    options: what Options.toDict gives.
    """
    own = {name: value for name, value in options.items() if name in OWN}
    popart = {name: value for name, value in options.items() if name not in OWN}
    option_log.check(own, popart)
    option_log.say(own, popart)


def isCompilingWithDispatcher():
    """Whether a model is being traced."""
    return is_tracing()
