"""Views of ops whose place in a tensor is known only at run time."""
from ..op_view import Op
from .table import declare

CLASSES = declare(globals(), Op, {
    "DynamicSliceOp": "DynamicSlice",
    "DynamicUpdateOp": "DynamicUpdate",
    "DynamicUpdateInplaceOp": "DynamicUpdateInplace",
})
