"""Products and convolutions of integers, to the last bit: sums of products of parts, which float32 holds exactly. What overflows loses its upper bits."""
import popxl

# Floats hold integers of so many bits exactly.
_EXACT = 24
_BITS = {popxl.int8: 8, popxl.uint8: 8, popxl.int16: 16}


def _parts(g, x, width):
    """(floats whose sum, each times 2^(width * its place), is x), the lowest first. The last has the sign."""
    bits = _BITS.get(x.dtype, 32)
    rest, parts = g.cast(x, popxl.int32), []
    for _ in range((bits - 1) // width):
        low = g.one("bitwise_and", rest, g.constant(2**width - 1, popxl.int32))
        rest = g.one("div", g.one("sub", rest, low), g.constant(2**width, popxl.int32))
        parts.append(g.cast(low, popxl.float32))
    return [*parts, g.cast(rest, popxl.float32)]


def exactly(g, multiply, a, b, terms):
    """What a function gives for two tensors of integers of one type.

    Args:
        multiply: a function of two float32 tensors whose results are sums of products of an element of each.
        terms: how many products a sum has.

    Raises:
        NotImplementedError: sums of more than 2^22 products.
    """
    if a.dtype.is_floating_point:
        return multiply(a, b)
    width = (_EXACT - (terms - 1).bit_length()) // 2
    if width < 1:
        raise NotImplementedError(f"{g.node.target}: sums of {terms} products of integers; programs of Pando have them up to {2**(_EXACT - 2)}.")
    total = None
    first, second = _parts(g, a, width), _parts(g, b, width)
    for i, x in enumerate(first):
        for j, y in enumerate(second):
            if (i + j) * width >= 32:
                continue
            part = g.cast(multiply(x, y), popxl.int32)
            part = g.one("mul", part, g.constant(2**((i + j) * width), popxl.int32)) if i + j else part
            total = part if total is None else g.one("add", total, part)
    return g.cast(total, a.dtype)


def powers_of_integers(g, x, e):
    """x to the power of e, two tensors of integers of one type. Powers below 0 are 0 but for those of 1 and -1."""

    def number(n):
        return g.constant(n, x.dtype)

    result, square, rest, parity = number(1), x, e, None
    for _ in range(_BITS.get(x.dtype, 32) - 1):
        low = g.one("bitwise_and", rest, number(1))
        odd = g.one("equal", low, number(1))
        parity = odd if parity is None else parity
        result = g.one("where", odd, g.one("mul", result, square), result)
        square, rest = g.one("mul", square, square), g.one("div", g.one("sub", rest, low), number(2))
    unit = g.one("where", g.one("equal", x, number(-1)), g.one("where", parity, number(-1), number(1)), number(0))
    below = g.one("where", g.one("equal", x, number(1)), number(1), unit)
    return g.one("where", g.one("less", e, number(0)), below, result)
