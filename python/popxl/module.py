"""Callable objects that make graphs."""


class Module:
    """A function with attributes of its own, for `Ir.create_graph`: subclasses define `build`.

    Inputs that `build` makes with `popxl.graph_input` are usually kept as attributes, so that callers can use them as keys of `inputs_dict`.
    """

    def __call__(self, *args, **kwargs):
        return self.build(*args, **kwargs)

    def build(self, *args, **kwargs):
        """What the graph consists of. Raises NotImplementedError unless a subclass says it."""
        raise NotImplementedError("A popxl.Module needs a method `build`.")
