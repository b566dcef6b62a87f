"""Sets of rewrites. PopART applies them when it is told to; here lowering decides by itself, and programs may still say what they want."""
import enum


class PatternsLevel(enum.Enum):
    NoPatterns = 0
    Minimal = 1
    Default = 2
    All = 3


class Patterns:
    def __init__(self, level=PatternsLevel.Default):
        if not isinstance(level, PatternsLevel):
            raise TypeError(f"Patterns takes a PatternsLevel, not {level!r}")
        self.level = level
