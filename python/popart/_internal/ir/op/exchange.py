"""Views of ops that talk to the host or to Streaming Memory."""
from ..op_kinds import MergedExchange
from ..op_view import Op
from .table import declare

CLASSES = declare(globals(), Op, {
    "HostLoadOp": "HostLoad",
    "HostStoreOp": "HostStore",
    "RemoteCodeLoadOp": "RemoteCodeLoad",
    "RemoteLoadOp": "RemoteLoad",
    "RemoteLoadInplaceOp": "RemoteLoadInplace",
    "RemoteStoreOp": "RemoteStore",
})
CLASSES |= declare(globals(), MergedExchange, {"MultiExchangeOp": "MultiExchange"})
