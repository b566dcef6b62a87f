"""pando.search: one call from a model to the best strategy over devices."""


def search(model, inputs=None, targets=None, *, devices, loss=None, optimizer=None, **options):
    """The best strategy for a model over devices, with a certificate. See popxl.distribution.search.

    Args:
        model: an nn.Module, or a popxl.Ir.
        inputs, targets: of an nn.Module, of one step: tensors, tuples of the model's arguments, dicts of those by name ... The first dimension of tensors
            counts samples.
        devices: how many; of several numbers the result is that of the best.
        loss, optimizer: of an nn.Module: a training step is searched for if there is an optimizer (see pando.torch.compile_step), else inference.
        options: of popxl.distribution.search: machine="ipu2", memory, require, top ...

    Returns:
        popxl.distribution.Result. `popxl.distribution.Session(pando.torch.to_ir(...), result.best.words, device)` runs it.

    Raises:
        TypeError: no module and no Ir; a module without inputs, an Ir with them.
    """
    import popxl
    from popxl import distribution

    if isinstance(model, popxl.Ir):
        if inputs is not None or targets is not None or loss is not None or optimizer is not None:
            raise TypeError("search: inputs, targets, loss and optimizer go with an nn.Module; an Ir has its own.")
        return distribution.search(model, devices, **options)
    if not hasattr(model, "named_parameters"):
        raise TypeError(f"search takes an nn.Module or a popxl.Ir, not {type(model).__name__}.")
    if inputs is None:
        raise TypeError("search: an nn.Module needs inputs.")
    from pando.torch.ir import to_ir

    return distribution.search(to_ir(model, inputs, targets, loss=loss, optimizer=optimizer), devices, **options)
