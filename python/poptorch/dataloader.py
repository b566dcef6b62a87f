"""Data in the batches that a call of a model takes."""
import torch

from poptorch import enums
from poptorch.errors import createPoptorchError
from poptorch.logging import say_once


class DataLoader(torch.utils.data.DataLoader):
    """torch's DataLoader, whose items hold all micro-batches of one call: batch_size * deviceIterations * replicas * gradientAccumulation.

    Args:
        options: poptorch.Options.
        dataset, batch_size, shuffle, num_workers, drop_last: as torch's; batch_size counts the items of a micro-batch, drop_last is True by default.
        mode: asynchronous modes load in the workers of torch's DataLoader.

    Raises:
        poptorch.Error: a batch_sampler beside batch_size or shuffle.
    """

    def __init__(self, options, dataset, batch_size=1, shuffle=None, num_workers=0, drop_last=True, persistent_workers=None,
                 auto_distributed_partitioning=True, mode=enums.DataLoaderMode.Sync, async_options=None, rebatched_worker_size=None, batch_sampler=None,
                 **kwargs):
        assert isinstance(mode, enums.DataLoaderMode)
        if mode != enums.DataLoaderMode.Sync:
            say_once("A DataLoader loads in torch's workers, in every mode.")
        options._freeze()
        self._options = options
        factor = (options.device_iterations * (options.replication_factor // options.input_group_size) * options.Training.gradient_accumulation)
        self._combined_batch_size = None if batch_size is None else batch_size * factor
        if batch_sampler is not None:
            if batch_size not in (None, 1) or shuffle:
                raise createPoptorchError("batch_sampler goes with neither batch_size nor shuffle.")
            kwargs["batch_sampler"] = _Joined(batch_sampler, factor)
        else:
            kwargs.update(batch_size=self._combined_batch_size, drop_last=drop_last if batch_size is not None else False)
            if not isinstance(dataset, torch.utils.data.IterableDataset):
                kwargs["shuffle"] = bool(shuffle)
        persistent = num_workers > 0 if persistent_workers is None else persistent_workers
        super().__init__(dataset, num_workers=num_workers, persistent_workers=persistent, **kwargs)

    @property
    def combinedBatchSize(self):
        """Items of one call."""
        return self._combined_batch_size

    @property
    def options(self):
        return self._options

    def terminate(self):
        """Ends the workers."""
        self._iterator = None


class _Joined:
    """Several batches of a sampler as one."""

    def __init__(self, sampler, factor):
        self._sampler, self._factor = sampler, factor

    def __iter__(self):
        joined = []
        for number, batch in enumerate(self._sampler, 1):
            joined.extend(batch)
            if number % self._factor == 0:
                yield joined
                joined = []

    def __len__(self):
        return len(self._sampler) // self._factor


class AsynchronousDataAccessor:
    """Iterates over a data set. Loading ahead is what workers of a DataLoader do."""

    def __init__(self, dataset, buffer_size=3, miss_sleep_time_in_ms=0.1, load_indefinitely=True, early_preload=False,
                 sharing_strategy=enums.SharingStrategy.ForkServer, rebatched_size=None):
        self._dataset = dataset

    def __iter__(self):
        return iter(self._dataset)

    def __len__(self):
        return len(self._dataset)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.terminate()

    def terminate(self):
        """Nothing is left running."""
