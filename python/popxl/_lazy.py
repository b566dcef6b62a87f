"""NumPy, imported when it is first asked for something: `import popxl` alone does not pay for it."""


class _Numpy:
    def __getattr__(self, name):
        import numpy

        value = getattr(numpy, name)
        setattr(self, name, value)
        return value


np = _Numpy()
