"""What is private to a release of PyTorch: everything that is not documented as public is used here alone.

Written for PyTorch 2.4 to 2.15.
"""
import contextlib
import functools
import gc
import operator
import os
import sys
import traceback
import warnings

import torch
import torch._decomp
import torch.library

from pando.torch import settings

# Ops of Pando's own in PyTorch's graphs.
library = torch.library.Library("pando", "DEF")


def aot(graph_module, example_inputs, forward, backward, decompositions):
    """AOTAutograd around two compilers of functional graphs: what a backend of torch.compile returns."""
    from torch._dynamo.backends.common import aot_autograd
    from torch._functorch.partitioners import min_cut_rematerialization_partition

    with host_kernels_off(), _checks_without_order():
        return aot_autograd(fw_compiler=forward, bw_compiler=backward, inference_compiler=forward, decompositions=decompositions,
                            partition_fn=min_cut_rematerialization_partition)(graph_module, example_inputs)


def specialise(inputs):
    """Makes dimensions that torch.compile keeps open after a second shape numbers: programs are static, and another shape compiles another one."""
    for x in inputs:
        for number in [*x.shape, *x.stride(), x.storage_offset()] if isinstance(x, torch.Tensor) else [x]:
            if isinstance(number, torch.SymInt):
                int(number)


def boxed(function):
    """Marks a function of a list of inputs as one: PyTorch calls others with one argument for each input."""
    function._boxed_call = True
    return function


@contextlib.contextmanager
def _checks_without_order():
    """A check of factors, which gives nothing, keeps no order among others: a graph would have values for that."""
    try:
        from torch._higher_order_ops.effects import _get_effect, _register_effectful_op
    except ImportError:
        # Releases that keep none.
        yield
        return
    name = "aten::_linalg_check_errors"
    before = _get_effect(name)
    _register_effectful_op(name, None)
    try:
        yield
    finally:
        _register_effectful_op(name, before)


@contextlib.contextmanager
def host_kernels_off():
    """Attention and recurrent layers as products, both ways, instead of one op of the host's."""
    from torch.nn.attention import SDPBackend, sdpa_kernel

    with warnings.catch_warnings():
        # Setting flags of oneDNN warns of others that it sets beside them.
        warnings.simplefilter("ignore")
        flags = torch.backends.mkldnn.flags(enabled=False)
        with sdpa_kernel(SDPBackend.MATH), flags:
            with warnings.catch_warnings():
                warnings.simplefilter("default")
                yield


@contextlib.contextmanager
def _layers_of_tensors():
    """Inside, layers of nn.Transformer ask for no values: those of a mask, which they look at to see whether it is causal, and those of a padding mask, by which
    they leave out rows."""
    from torch.nn.modules import transformer

    was = getattr(transformer, "_detect_is_causal_mask", None)
    mha = getattr(torch.backends, "mha", None)
    fast = mha is not None and mha.get_fastpath_enabled()
    if was is not None:
        # A mask that is given is applied, whatever it is.
        transformer._detect_is_causal_mask = lambda mask, is_causal=None, size=None: bool(is_causal)
    if fast:
        mha.set_fastpath_enabled(False)
    try:
        yield
    finally:
        if was is not None:
            transformer._detect_is_causal_mask = was
        if fast:
            mha.set_fastpath_enabled(True)


def _flex():
    """PyTorch's module of flex_attention, if it is imported, and its dense form; None where there are none."""
    module = sys.modules.get("torch.nn.attention.flex_attention")
    dense = getattr(sys.modules.get("torch._higher_order_ops.flex_attention"), "math_attention", None)
    return (module, dense) if module is not None and dense is not None else None


@contextlib.contextmanager
def _dense_flex():
    """Inside, flex_attention is products, with the modification as a dense tensor and the mask as another; gradients go with it on each device."""
    found = _flex()
    own = {"flex_attention_hop": found[1], "_FLEX_ATTENTION_DISABLE_COMPILE_DEBUG": True, "_validate_device": lambda *tensors: None} if found else {}
    was = {name: getattr(found[0], name) for name in own if hasattr(found[0], name)}
    for name in was:
        setattr(found[0], name, own[name])
    try:
        yield
    finally:
        for name, value in was.items():
            setattr(found[0], name, value)


def densify_flex(graph_module):
    """Replaces flex_attention in a graph that torch.compile hands over."""
    found = _flex()
    for node in graph_module.graph.nodes if found else ():
        if node.op == "call_function" and str(node.target) == "flex_attention":
            node.target = found[1]
    graph_module.recompile()


@contextlib.contextmanager
def _checkpoints_of_graphs():
    """Inside, torch.utils.checkpoint with use_reentrant=True is what it computes: its backward pass goes with .backward() alone, and a trace has none."""
    from torch.utils.checkpoint import CheckpointFunction

    def apply(function, preserve_rng_state, *args):
        # Where no argument has a gradient, parameters have none, as in eager mode.
        wanted = torch.is_grad_enabled() and any(isinstance(x, torch.Tensor) and x.requires_grad for x in args)
        with torch.set_grad_enabled(wanted):
            return function(*args)

    was = vars(CheckpointFunction).get("apply")
    CheckpointFunction.apply = apply
    try:
        yield
    finally:
        if was is None:
            del CheckpointFunction.apply
        else:
            CheckpointFunction.apply = was


@contextlib.contextmanager
def _compiled_functions_inside():
    """Inside, functions that torch.compile has are what they were before."""
    import torch._dynamo

    with torch._dynamo.config.patch(error_on_nested_fx_trace=False):
        yield


@contextlib.contextmanager
def real_tensors():
    """Inside, tensors have contents, and what is done to them is in no graph, also while one is traced."""
    from torch._subclasses.fake_tensor import unset_fake_temporarily
    from torch.fx.experimental.proxy_tensor import disable_proxy_modes_tracing

    with unset_fake_temporarily(), disable_proxy_modes_tracing():
        yield


def tree_level(value):
    """(children, a function that makes such a value of a list of them, a text that tells its kind) of what PyTorch's pytree knows; None: it does not."""
    from torch.utils import _pytree

    children, spec = _pytree.tree_flatten(value, is_leaf=lambda x: x is not value)
    if len(children) == 1 and children[0] is value:
        return None
    return children, lambda parts: _pytree.tree_unflatten(parts, spec), repr(spec)


def core_decompositions():
    """PyTorch's decompositions into core ATen, a new dict."""
    from torch._decomp import core_aten_decompositions

    aten = torch.ops.aten
    more = torch._decomp.get_decompositions([aten.native_batch_norm, aten._native_batch_norm_legit, aten._native_batch_norm_legit_no_training,
                                             aten.native_batch_norm_backward])
    return {**core_aten_decompositions(), **more}


def all_decompositions():
    """{overload: function}: everything that PyTorch can take apart into ops of ATen (its references end in ops of another set)."""
    return {op: function for op, function in torch._decomp.decomposition_table.items()
            if isinstance(op, torch._ops.OpOverload) and not function.__module__.startswith("torch._refs")}


def data_dependent():
    """Exceptions for values and shapes that are known when a program runs."""
    from torch._subclasses.fake_tensor import DataDependentOutputException
    from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode

    return DataDependentOutputException, GuardOnDataDependentSymNode


def _with_constants(graph_module, names):
    """The graph as a function of its inputs and, after them, of the constants with some names."""
    import torch.fx

    from pando.torch import selections
    from pando.torch.importer import line_of

    class Run(selections.Static if any(map(selections.picks, graph_module.graph.nodes)) else torch.fx.Interpreter):
        def run_node(self, n):
            try:
                return super().run_node(n)
            except NotImplementedError as error:
                line = line_of(n)
                raise NotImplementedError(f"{error} {line}") from error if line and line not in str(error) else error
            except data_dependent() as error:
                raise NotImplementedError(f"{n.target} asks for a value, or has a shape, that is known when the program runs and not before. Use torch.where, or a "
                                          f"product with what a mask has of each element. {line_of(n)}") from error

        def get_attr(self, target, args, kwargs):
            return self._given[target] if target in self._given else super().get_attr(target, args, kwargs)

    def run(*flat):
        interpreter = Run(graph_module)
        # Messages have the model's line, and no text of a graph.
        interpreter.extra_traceback = False
        interpreter._given = dict(zip(names, flat[len(flat) - len(names):]))
        return interpreter.run(*flat[:len(flat) - len(names)])

    return run


def _as_constants(graph_module, tensors):
    """Makes the last inputs of a graph constants again. What is written into them has no effect beyond the graph."""
    inputs = [n for n in graph_module.graph.nodes if n.op == "placeholder"]
    for i, (node, tensor) in enumerate(zip(inputs[len(inputs) - len(tensors):], tensors)):
        for user in list(node.users):
            if user.target is torch.ops.aten.copy_.default and user.args[0] is node:
                user.replace_all_uses_with(user.args[1])
                graph_module.graph.erase_node(user)
        name = f"constant_{i}"
        graph_module.register_buffer(name, tensor)
        with graph_module.graph.inserting_before(node):
            constant = graph_module.graph.get_attr(name)
        constant.meta.update(node.meta)
        node.replace_all_uses_with(constant)
        graph_module.graph.erase_node(node)
    graph_module.recompile()


def _line_of(error):
    """The last line outside of PyTorch and of Pando that an error went through, as "file:line: code"."""
    import os
    import traceback

    own = (os.path.dirname(torch.__file__) + os.sep, os.path.dirname(os.path.dirname(__file__)) + os.sep)
    frames = [f for f in traceback.extract_tb(error.__traceback__)
              if not f.filename.startswith(own) and os.sep + "poptorch" + os.sep not in f.filename and not f.filename.startswith("<")]
    return f"{frames[-1].filename}:{frames[-1].lineno}: {frames[-1].line}" if frames else ""


@contextlib.contextmanager
def values_rejected(who="The model"):
    """Inside, a model that asks for the value of a tensor, as `if tensor:` and `tensor.tolist()` do, gets NotImplementedError with its line. who: what messages
    call it."""
    try:
        yield
    except data_dependent() as error:
        raise NotImplementedError(f"{who} asks for the value of a tensor, which is known when the program runs and not before. Use torch.where, or keep "
                                  f"it a tensor. {_line_of(error)}") from error


def _check_layouts(tensors):
    """Raises NotImplementedError if one of some values is a tensor that is not dense."""
    from pando.torch.types import check_dense

    for x in tensors:
        if isinstance(x, torch.Tensor):
            check_dense(x)


def _is_fake(tensor):
    """Whether a tensor has no contents because its model is traced."""
    from torch._subclasses.fake_tensor import FakeTensor

    return isinstance(tensor, FakeTensor) or torch._is_functional_tensor(tensor)


class _Replaced(torch.overrides.TorchFunctionMode):
    """Inside, functions of PyTorch whose own form cannot be traced are others."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        from pando.torch.composed import FUNCTIONS

        if function is torch.Tensor.numpy and args[0].layout is torch.strided and _is_fake(args[0]):
            at = _Frames.summary()[-1:]
            raise NotImplementedError("The model asks for a tensor as an array of NumPy, which is known when the program runs and not before. Use functions of "
                                      "PyTorch." + "".join(f" {f.filename}:{f.lineno}: {f.line}" for f in at))
        try:
            return FUNCTIONS.get(function, function)(*args, **(kwargs or {}))
        except RuntimeError:
            # What PyTorch says of a sparse tensor while it traces names no cause.
            _check_layouts([*args, *(kwargs or {}).values()])
            raise


def _drop_answers(graph_module):
    """Removes ops whose only results are numbers and bools that nothing in a graph takes, which were looked at while it was traced, and notes for a profiler."""
    for node in reversed(graph_module.graph.nodes):
        if node.op != "call_function" or node.users or not isinstance(node.target, torch._ops.OpOverload):
            continue
        returns = node.target._schema.returns
        if node.target.namespace == "profiler" or returns and all(r.type.kind() in ("BoolType", "IntType", "FloatType") for r in returns):
            graph_module.graph.erase_node(node)


def _is_functional(graph_module):
    """Whether a graph writes nowhere, picks nothing whose shape the data tell, has no complex numbers, and has a rule for every op."""
    from pando.torch import selections
    from pando.torch.complex import involved
    from pando.torch.table import RULES

    return all(n.target in RULES and isinstance(n.target, torch._ops.OpOverload) and not n.target._schema.is_mutable and not selections.picks(n) and not involved(n)
               for n in graph_module.graph.nodes if n.op == "call_function" and n.target is not operator.getitem)


@contextlib.contextmanager
def _without_collections():
    """Inside, no garbage is collected: objects of a graph that grows would be looked at again and again."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


_PACKAGES = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# Files below these folders are no model's.
_OWN = tuple(os.path.join(_PACKAGES, package, "") for package in ("pando", "popxl", "poptorch")) + (os.path.join(os.path.dirname(torch.__file__), ""),)


class _Frames:
    """In place of PyTorch's traceback of a node, which takes as long as all else that is done to it: the frames that messages and reports name."""

    @classmethod
    def extract(cls, **_):
        return cls

    @classmethod
    def summary(cls):
        """The outermost forward(), and in it the innermost frame of the model, or of PyTorch where there is none."""
        frame, inner, model = sys._getframe(2), None, None
        found = (None, None)
        while frame is not None:
            code = frame.f_code
            inner = inner or frame
            if model is None and not code.co_filename.startswith(_OWN):
                model = frame
            if code.co_name == "forward":
                found = (frame, model or inner)
            frame = frame.f_back
        frames = dict.fromkeys(f for f in found if f is not None)
        return traceback.StackSummary.from_list([traceback.FrameSummary(f.f_code.co_filename, f.f_lineno, f.f_code.co_name, lookup_line=False) for f in frames])


@contextlib.contextmanager
def _short_traces():
    """Inside, nodes get the frames of _Frames."""
    import torch.fx.proxy

    was = getattr(torch.fx.proxy, "CapturedTraceback", None)
    if was is None:
        yield
        return
    torch.fx.proxy.CapturedTraceback = _Frames
    try:
        yield
    finally:
        torch.fx.proxy.CapturedTraceback = was


class _Updating(_Replaced):
    """Inside, too, numbers of an optimizer stay out of the trace, and what an update asks of a tensor's value stays a tensor."""

    def __init__(self, settings):
        super().__init__()
        self._settings = settings

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if any(map(settings.is_scalar, settings.leaves((args, kwargs)))):
            return self._settings.call(function, args, kwargs)
        if function is torch.Tensor.item and args[0].numel() == 1:
            return args[0].reshape(()).clone()
        name = getattr(function, "__name__", "")
        if args and isinstance(args[0], torch.Tensor) and _writes_unknown(name):
            return args[0].copy_(getattr(torch.Tensor, name[:-1])(*args, **kwargs))
        return settings.with_tensors(function, args, kwargs, lambda *a, **k: super(_Updating, self).__torch_function__(function, types, a, k))


@functools.lru_cache(None)
def _writes_unknown(name):
    """Whether a function of tensors writes into its first, and functionalize does not know it: PyTorch takes such ops apart before, but for gradients alone."""
    packet = getattr(torch.ops.aten, name, None) if name.endswith("_") and not name.endswith("__") and hasattr(torch.Tensor, name[:-1]) else None
    overloads = [f"aten::{name}" + ("" if o == "default" else f".{o}") for o in (packet.overloads() if packet is not None else ())]
    return any(torch._C._dispatch_has_kernel(o) and not torch._C._dispatch_has_kernel_for_dispatch_key(o, "Functionalize") for o in overloads if not o.endswith("out"))


@_without_collections()
def trace_writes(function, inputs, decompositions, numbers, who="The model"):
    """As trace, of a function that takes no gradients and asks for none: an optimizer's update. numbers: its settings.Settings. who: what messages call it."""
    from torch.fx.experimental.proxy_tensor import make_fx

    _check_layouts(inputs)
    table = {**decompositions, torch.ops.aten._local_scalar_dense.default: _asks_for_number}
    with host_kernels_off(), values_rejected(who), _Updating(numbers), torch.no_grad():
        functional = torch.func.functionalize(function, remove="mutations_and_views")
        return make_fx(functional, decomposition_table=table, tracing_mode="fake", _allow_non_fake_inputs=True)(*inputs)


def _asks_for_number(tensor):
    """Where an op takes a number, and gets a tensor."""
    raise data_dependent()[0](torch.ops.aten._local_scalar_dense.default)


@_without_collections()
def trace(function, inputs, decompositions):
    """The functional graph of a function of tensors; what it writes into its inputs are copies into them at the end (aten.copy_).

    Other tensors that the function uses are constants of the graph.

    Raises:
        NotImplementedError: an input that is sparse, or a value that is known when the program runs.
    """
    import torch.fx.traceback
    from torch.fx.experimental.proxy_tensor import make_fx

    from pando.torch import passes

    _check_layouts(inputs)
    # Gradients first, then views and writes: functionalize does not go with autograd.
    with host_kernels_off(), _layers_of_tensors(), _dense_flex(), _compiled_functions_inside(), _checkpoints_of_graphs(), values_rejected(), \
            _Replaced(), _short_traces():
        written = make_fx(function, decomposition_table=decompositions, tracing_mode="fake", record_stack_traces=True, _allow_non_fake_inputs=True)(*inputs)
    _drop_answers(written)
    names = dict.fromkeys(n.target for n in written.graph.nodes if n.op == "get_attr" and isinstance(getattr(written, n.target), torch.Tensor))
    constants = [getattr(written, name).detach() for name in names]
    passes.relate_strides(written)
    if _is_functional(written):
        return written
    with torch.fx.traceback.preserve_node_meta(), torch.no_grad(), values_rejected():
        functional = torch.func.functionalize(_with_constants(written, list(names)), remove="mutations_and_views")
        graph = make_fx(functional, decomposition_table=decompositions, tracing_mode="fake")(*inputs, *constants)
    _as_constants(graph, constants)
    return graph


@contextlib.contextmanager
def reparametrized(model, tensors):
    """The model with other tensors in place of its parameters and buffers, by name; one that has several names may be given by one of them."""
    from torch.nn.utils import stateless

    for name in dict(model.named_parameters()):
        if name in tensors:
            # What isinstance(tensor, torch.nn.Parameter) looks at.
            tensors[name]._is_param = True
    with stateless._reparametrize_module(model, tensors, tie_weights=True):
        yield


@contextlib.contextmanager
def as_if_compiling():
    """Optimizers that keep to tensors: what they would read as Python numbers stays in the graph."""
    was = torch.compiler.is_compiling
    torch.compiler.is_compiling = lambda: True
    try:
        yield
    finally:
        torch.compiler.is_compiling = was


def optimizer_with(optimizer, tensors, states, groups):
    """A copy of an optimizer for other tensors in place of its parameters, with their states. groups: for each group what is told it instead of its own."""
    import collections
    import copy

    other = copy.copy(optimizer)
    other.state = collections.defaultdict(dict)
    other.param_groups = []
    for group, own in zip(optimizer.param_groups, groups):
        other.param_groups.append({**group, **own, "params": [tensors[p] for p in group["params"] if p in tensors], "foreach": False, "fused": False})
        if "capturable" in group:
            other.param_groups[-1]["capturable"] = True
    for p, tensor in tensors.items():
        if p in states:
            other.state[tensor] = dict(states[p])
    return other


def update(optimizer):
    """One step of an optimizer, without what torch.optim has around it: hooks, profiling."""
    import inspect

    with torch.no_grad(), as_if_compiling(), settings.extremes_of_tensors(optimizer):
        inspect.unwrap(type(optimizer).step)(optimizer)


def hooked(parameter, gradient):
    """A gradient as the hooks of its parameter (register_hook) make it.

    Raises NotImplementedError for a hook that wants the parameter after it has its gradient.
    """
    if getattr(parameter, "_post_accumulate_grad_hooks", None):
        raise NotImplementedError("A parameter has a hook of register_post_accumulate_grad_hook: a program has no moment after each gradient. Give the optimizer to "
                                  "compile_step, or the hook to register_hook.")
    for hook in (parameter._backward_hooks or {}).values():
        made = hook(gradient)
        gradient = gradient if made is None else made
    return gradient


def address(tensor):
    """Where the contents of a constant of a graph lie; None: nowhere."""
    return None if _is_fake(tensor) or tensor.layout is not torch.strided else tensor.data_ptr()


def place_in_memory(tensor):
    """What changes when a tensor on the host gets other contents by an operation of PyTorch, or other memory."""
    return tensor._version, tensor.data_ptr()


def note_step(optimizer):
    """Tells a scheduler, which counts calls of step(), that its optimizer has done one."""
    optimizer._opt_called = True
