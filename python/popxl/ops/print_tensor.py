"""Tensors as text, while a program runs."""
from typing import Literal

from popxl._build import one
from popxl.tensor import Tensor

FloatFormat = Literal["auto", "fixed", "scientific", "none"]
_FORMATS = ("auto", "fixed", "scientific", "none")


def print_tensor(t: Tensor, title: str = None, print_self: bool = True, print_gradient: bool = False, summarise_threshold: int = 1000, edge_items: int = 3,
                 max_line_width: int = 75, digits: int = 8, float_format: FloatFormat = "auto", separator: str = " ", open_bracket: str = "[",
                 close_bracket: str = "]") -> Tensor:
    """Writes a tensor to standard error when the program runs.

    Args:
        t: the tensor.
        title: stands before it; None: `print_<name>`.
        print_self: whether the tensor is written.
        print_gradient: whether its gradient is, with the title `<title>_gradient`. The result must be what the loss is computed from.
        summarise_threshold: tensors of more elements are shortened to `edge_items` at both ends of each dimension.
        edge_items: see above.
        max_line_width: characters, after which a row goes on in the next line; 0: never.
        digits: of floating-point numbers.
        float_format: "auto", "fixed", "scientific" or "none".
        separator, open_bracket, close_bracket: one character each.

    Returns:
        a copy of the tensor.

    Raises:
        ValueError: separators of more than one character.
        KeyError: another float_format.
    """
    if float_format not in _FORMATS:
        raise KeyError(f"print_tensor: float_format is one of {', '.join(_FORMATS)}, not {float_format!r}.")
    for name, text in (("separator", separator), ("open_bracket", open_bracket), ("close_bracket", close_bracket)):
        if len(text) != 1:
            raise ValueError(f"print_tensor: {name} is one character, not {text!r}.")
    if title is None:
        title = f"print_{t.name}" if isinstance(t, Tensor) else ""
    return one("print_tensor", [t], dict(title=title, print_self=print_self, print_gradient=print_gradient, summarise_threshold=summarise_threshold,
                                         edge_items=edge_items, max_line_width=max_line_width, digits=digits, float_format=float_format,
                                         separator=separator, open_bracket=open_bracket, close_bracket=close_bracket))


__all__ = ["print_tensor"]
