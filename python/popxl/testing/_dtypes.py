from popxl import dtypes


def get_all_dtypes():
    """Every element type once."""
    return list(dtypes._by_index)


def get_all_int_dtypes(include_signed=True, include_unsigned=True):
    """The integer types, signed ones first.

    Args:
        include_signed, include_unsigned: which of them.
    """
    return [t for t in dtypes._by_index if t.is_int and (include_signed if t.is_signed else include_unsigned)]
