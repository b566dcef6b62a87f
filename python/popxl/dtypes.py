"""Element types of tensors.

Sixteen types, each one object: `popxl.float32`, `popxl.int8` ... with the aliases `half`, `float` and `double`.
"""
import builtins

from popxl import _core
from popxl._lazy import np

__all__ = ["dtype", "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "half", "float8_143", "float8_152", "float16",
           "float", "float32", "double", "float64", "complex64", "complex128"]

_by_name = {}
_by_index = []
_ALIASES = {"half": "float16", "float": "float32", "double": "float64"}
_TORCH = {"bool": "bool", "int8": "int8", "int16": "int16", "int32": "int32", "int64": "int64", "uint8": "uint8", "float16": "float16",
          "float32": "float32", "float64": "float64", "complex64": "complex64", "complex128": "complex128"}


class dtype:
    """An element type. The objects of this module are all there are."""

    __slots__ = ("_index", "_name", "__weakref__")

    def __init__(self):
        raise TypeError(f"Cannot create {self.__module__}.{type(self).__qualname__} instances.")

    @property
    def name(self):
        """Its name, such as "float32"."""
        return self._name

    @property
    def is_complex(self):
        return self._name.startswith("complex")

    @property
    def is_int(self):
        """Whether it is an integer of either sign. bool is none."""
        return "int" in self._name

    @property
    def is_floating_point(self):
        return self._name.startswith("float")

    @property
    def is_signed(self):
        return self._name != "bool" and not self._name.startswith("uint")

    @classmethod
    def from_name(cls, name):
        """The type of a name or alias. Raises ValueError if there is none."""
        found = _by_name.get(_ALIASES.get(name, name))
        if found is None:
            raise ValueError(f"There is no element type of the name {name!r}: {', '.join(_by_name)}")
        return found

    @classmethod
    def as_dtype(cls, type_value):
        """The type that corresponds to a popxl, NumPy or torch type, to a name, a Python type, or to the elements of an array or torch tensor.

        Raises ValueError if there is none.
        """
        if isinstance(type_value, dtype):
            return type_value
        if type_value is None:  # NumPy takes it for float64
            raise ValueError("There is no element type for None.")
        if isinstance(type_value, str):
            try:
                return cls.from_name(type_value)
            except ValueError:
                pass
        if isinstance(type_value, builtins.type) and type_value in _PYTHON:
            return _PYTHON[type_value]
        module = builtins.type(type_value).__module__
        if module == "torch" or module.startswith("torch."):
            type_value = getattr(type_value, "dtype", type_value)
            found = _by_name.get(str(type_value).rpartition(".")[2])
            if found is not None:
                return found
        elif isinstance(type_value, np.ndarray):
            type_value = type_value.dtype
        try:
            of_numpy = np.dtype(type_value)
        except TypeError:
            of_numpy = None
        found = of_numpy is not None and _numpy_to_popxl().get(of_numpy)
        if not found:
            raise ValueError(f"There is no element type for {type_value!r}.")
        return found

    def as_numpy(self):
        """NumPy's type. The two float8 types are structures of one byte."""
        if self._name.startswith("float8"):
            return np.dtype([(self._name, "u1")])
        return np.dtype(self._name)

    def as_torch(self):
        """torch's type. Raises TypeError if it has none, ModuleNotFoundError without torch."""
        import torch

        if self._name not in _TORCH:
            raise TypeError(f"torch has no type for {self!r}.")
        return getattr(torch, _TORCH[self._name])

    def __repr__(self):
        return f"{__name__}.{self._name}"

    def __reduce__(self):
        return dtype.from_name, (self._name,)


def _make():
    for index, name in enumerate(_core.dtype_names()):
        self = object.__new__(dtype)
        self._index = index
        self._name = name
        _by_name[name] = self
        _by_index.append(self)


_make()

int8, int16, int32, int64 = (_by_name[n] for n in ("int8", "int16", "int32", "int64"))
uint8, uint16, uint32, uint64 = (_by_name[n] for n in ("uint8", "uint16", "uint32", "uint64"))
float8_143, float8_152 = _by_name["float8_143"], _by_name["float8_152"]
float16, float32, float64 = _by_name["float16"], _by_name["float32"], _by_name["float64"]
complex64, complex128 = _by_name["complex64"], _by_name["complex128"]
half, double = float16, float64
_PYTHON = {builtins.bool: _by_name["bool"], builtins.int: int64, builtins.float: float32}
# From here on the names of Python's own types are those of this module.
bool = _by_name["bool"]
float = float32

_numpy_types = {}


def _numpy_to_popxl():
    if not _numpy_types:
        _numpy_types.update((t.as_numpy(), t) for t in _by_index)
    return _numpy_types


def __getattr__(name):
    # What needs NumPy or torch exists once it is asked for.
    if name == "np_dtype_float8_143":
        value = float8_143.as_numpy()
    elif name == "np_dtype_float8_152":
        value = float8_152.as_numpy()
    elif name == "_NP_TO_POPXL":
        value = _numpy_to_popxl()
    elif name == "_PT_TO_POPXL":
        try:
            import torch
        except ModuleNotFoundError:
            value = {}
        else:
            value = {getattr(torch, theirs): _by_name[ours] for ours, theirs in _TORCH.items()}
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value
