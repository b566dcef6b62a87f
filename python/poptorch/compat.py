"""What PyTorch 2.0 took from the programs that are written for PopTorch, and newer releases reject."""
import torch


def _take_data_source(self, data_source=None):
    """The base class of samplers ignores the data that it is given."""


def restore():
    """Lets the constructor of a sampler pass its data to torch.utils.data.Sampler, whose newer releases take no argument."""
    if torch.utils.data.Sampler.__init__ is object.__init__:
        torch.utils.data.Sampler.__init__ = _take_data_source
