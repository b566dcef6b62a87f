"""The error classes of PopTorch."""
import contextlib


class Error(Exception):
    """What is wrong with a model, its options or its use. `message`, `type` and `location` are texts."""

    def __init__(self, message="", type="poptorch_py_error", location=""):
        super().__init__(f"{message} {location}".strip())
        self.message, self.type, self.location = str(message), type, location


class RecoverableError(Error):
    """Hardware that can be reset. Pando has none."""

    recovery_action = "FULL_RESET"


class UnrecoverableError(Error):
    """Hardware that cannot be reset. Pando has none."""


def createPoptorchError(msg):
    """An Error, not raised. Its text is the type in quotes and the message."""
    error = Error(f"'poptorch_py_error': {msg}")
    error.message = msg
    return error


@contextlib.contextmanager
def translated():
    """Inside, what Pando says of a model is a poptorch.Error, with the model's line."""
    from pando.torch.types import UnsupportedType
    from popxl._core import popart_exception

    try:
        yield
    except (NotImplementedError, UnsupportedType, popart_exception) as error:
        notes = " ".join(getattr(error, "__notes__", ()))
        raise Error(f"{error}{f' ({notes})' if notes else ''}") from error
