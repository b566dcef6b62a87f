"""Views of ops that talk to the host or to Streaming Memory."""
from ..op_view import Op
from .table import declare

CLASSES = declare(globals(), Op, {
    "HostLoadOp": "HostLoad",
    "HostStoreOp": "HostStore",
    "MultiExchangeOp": "MultiExchange",
    "RemoteCodeLoadOp": "RemoteCodeLoad",
    "RemoteLoadOp": "RemoteLoad",
    "RemoteLoadInplaceOp": "RemoteLoadInplace",
    "RemoteStoreOp": "RemoteStore",
})
