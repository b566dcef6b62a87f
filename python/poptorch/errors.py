"""The error classes of PopTorch."""


class Error(Exception):
    """What is wrong with a model, its options or its use. `message`, `type` and `location` are texts."""

    def __init__(self, message="", type="poptorch_py_error", location=""):
        super().__init__(message)
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
