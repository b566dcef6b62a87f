"""Files of compiled models: everything that compiles the same program again and goes on where it was."""
import os
import pathlib
import pickle

import torch

from poptorch import enums
from poptorch.errors import createPoptorchError
from poptorch.wrapping import unwrap, wrap

FORMAT = "pando poptorch 1"


def write(executor, filename, export_model, save_rng_state):
    """Writes a model. See PoplarExecutor.save."""
    path = pathlib.Path(filename)
    if path.is_dir():
        path = path / "model.poptorch"
    os.makedirs(path.parent, exist_ok=True)
    model, optimizer = executor._user_model, executor._optimizer
    content = dict(format=FORMAT, training=executor._training, options=executor._options, arguments=executor._arguments, names=executor._names,
                   batch=[torch.zeros_like(t) for t in executor._batch], types=executor._input_types,
                   rng_state=torch.get_rng_state() if save_rng_state else None)
    if executor._training:
        unwrap(model)
    kept = {name: model.__dict__.pop(name) for name in ("_poptorch_trainer", "_poptorch_runs", "destroy") if name in model.__dict__}
    try:
        content["model"] = (model, optimizer) if export_model else None
        content["state"] = None if export_model else model.state_dict()
        torch.save(content, path)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        path.unlink(missing_ok=True)
        raise createPoptorchError(f"The model cannot be pickled ({error}). Define its class in a module, or save it with export_model=False.") from error
    finally:
        model.__dict__.update(kept)
        if executor._training:
            wrap(model, executor, again=True)


def read(filename):
    """The content of a file that `write` wrote. Raises poptorch.Error for another one."""
    path = pathlib.Path(filename)
    if path.is_dir():
        path = path / "model.poptorch"
    try:
        content = torch.load(path, weights_only=False)
    except FileNotFoundError:
        raise createPoptorchError(f"There is no file {path}.") from None
    except (pickle.UnpicklingError, RuntimeError, EOFError, KeyError, ImportError, AttributeError) as error:
        raise createPoptorchError(f"{path} cannot be read as a model that poptorch saved: {error}") from error
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise createPoptorchError(f"{path} is not a model that poptorch saved ({FORMAT}).")
    return content


def load(filename, edit_opts_fn=None):
    """The model of a file that PoplarExecutor.save or compileAndExport wrote: compiled for the same inputs, with its weights, optimizer and options.

    Files hold pickled objects: load only those that you trust.

    Args:
        filename: the file, or a folder with a model.poptorch in it.
        edit_opts_fn: a function of the options, called before the model is made.

    Raises:
        poptorch.Error: no such file, or another one.
        AssertionError: a file without the model (export_model=False): make the model and use loadExecutable.
    """
    from poptorch.executor import inferenceModel, trainingModel

    content = read(filename)
    assert content["model"] is not None, f"{filename} was saved with export_model=False: make the model, and load the file with loadExecutable"
    model, optimizer = content["model"]
    options = content["options"].clone()
    if options.connection_type == enums.ConnectionType.Never:
        options.connectionType(enums.ConnectionType.Always)
    if edit_opts_fn is not None:
        edit_opts_fn(options)
    executor = trainingModel(model, options, optimizer) if content["training"] else inferenceModel(model, options)
    executor._restore(content)
    return executor
