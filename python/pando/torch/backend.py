"""torch.compile(model, backend="pando")."""
from pando.torch import adapter
from pando.torch.decompositions import decompositions
from pando.torch.importer import UnsupportedOps
from pando.torch.passes import relate_strides
from pando.torch.program import Program
from pando.torch.types import UnsupportedType, warn_of_widths

_OPTIONS = {"device": "cpu", "fallback": False}


def _options(given):
    unknown = sorted(set(given or {}) - set(_OPTIONS))
    if unknown:
        raise ValueError(f"Unknown options of the backend pando: {', '.join(unknown)}. There are: {', '.join(_OPTIONS)}.")
    return {**_OPTIONS, **(given or {})}


def backend(graph_module, example_inputs, *, options=None):
    """A backend of torch.compile: forward and backward graphs run as programs of Pando.

    Args:
        graph_module, example_inputs: what torch.compile hands over.
        options: `device`: "cpu" (default: one tile with the whole host), "ipu_model" (1,472 tiles) or "interpreter" (the reference, slow).
            `fallback`: True: a graph with ops or types that Pando does not have runs in PyTorch; False (default): it is an error.

    Raises:
        UnsupportedOps: ops without a rule, with counts and the model's lines (inside of torch.compile's own error).
        ValueError: an unknown option.
    """
    chosen = _options(options)
    adapter.specialise(example_inputs)
    warn_of_widths(example_inputs)

    def compile_graph(graph, inputs):
        try:
            relate_strides(graph)
            return adapter.boxed(Program(graph, chosen["device"]).open())
        except (UnsupportedOps, UnsupportedType):
            if not chosen["fallback"]:
                raise
            return adapter.boxed(lambda given: graph(*given))

    adapter.densify_flex(graph_module)
    return adapter.aot(graph_module, example_inputs, compile_graph, compile_graph, decompositions())
