"""In which type a product adds up."""
import enum


class MatMulPartialsType(enum.Enum):
    HALF = 0
    FLOAT = 1
