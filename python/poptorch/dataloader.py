"""Data in the batches that a call of a model takes."""
import copy

import torch

from poptorch import enums, structure
from poptorch.accessor import AsynchronousDataAccessor
from poptorch.errors import createPoptorchError
from poptorch.logging import logger


class _Partition(torch.utils.data.Sampler):
    """The items of one of several processes: equal blocks of whole batches, one after the other.

    Args:
        length: items of the data set.
        process, processes: which one of how many.
        batch: items of a call of one process.
        seed: all processes share a permutation, another one in each epoch, that begins with what was left out before; None: the order stays.
        drop_last: whether all blocks are whole batches; else the rest is spread over the first processes.
    """

    def __init__(self, length, process, processes, batch, seed, drop_last):
        self._length, self._process, self._processes, self._seed = length, process, processes, seed
        self._epoch, self._left = 0, []
        base, rest = length // (batch * processes) * batch, 0
        if not drop_last:
            base, rest = divmod(length, processes)
        sizes = [base + (p < rest) for p in range(processes)]
        self._start, self._size, self._used = sum(sizes[:process]), sizes[process], sum(sizes)

    def __len__(self):
        return self._size

    def __iter__(self):
        if self._seed is None:
            return iter(range(self._start, self._start + self._size))
        generator = torch.Generator().manual_seed(self._seed + self._epoch)
        self._epoch += 1
        before = set(self._left)
        order = self._left + [i for i in torch.randperm(self._length, generator=generator).tolist() if i not in before]
        used, self._left = order[:self._used], order[self._used:]
        mixed = torch.randperm(len(used), generator=generator).tolist()
        return iter([used[i] for i in mixed[self._start:self._start + self._size]])


class _Joined(torch.utils.data.Sampler):
    """Several batches of a sampler at once: lists of lists of indices."""

    def __init__(self, sampler, factor, drop_last):
        self._sampler, self._factor, self._drop_last = sampler, factor, drop_last

    def __iter__(self):
        joined = []
        for batch in self._sampler:
            joined.append(list(batch))
            if len(joined) == self._factor:
                yield joined
                joined = []
        if joined and not self._drop_last:
            yield joined

    def __len__(self):
        count = len(self._sampler)
        return count // self._factor if self._drop_last else -(-count // self._factor)


class _Batches(torch.utils.data.Dataset):
    """A data set whose items are whole batches, by lists of indices."""

    def __init__(self, dataset, collate):
        self._dataset, self._collate = dataset, collate

    def __getitem__(self, indices):
        return self._collate([self._dataset[i] for i in indices])

    def __len__(self):
        return len(self._dataset)


def _concatenated(batches):
    """Batches of the same structure as one, along the first dimension."""
    parts = [structure.flatten(batch) for batch in batches]
    return structure.unflatten(parts[0][1], iter(torch.cat(tensors) for tensors in zip(*(tensors for tensors, _ in parts))))


class DataLoader(torch.utils.data.DataLoader):
    """torch's DataLoader, whose items hold all micro-batches of one call: batch_size * deviceIterations * replicas * gradientAccumulation.

    Args:
        options: poptorch.Options.
        dataset, batch_size, shuffle, num_workers, drop_last: as torch's; batch_size counts the items of a micro-batch, drop_last is True by default.
        auto_distributed_partitioning: whether each of several processes (Options.Distributed) gets a part of the data.
        mode: Sync; Async: an AsynchronousDataAccessor loads ahead; AsyncRebatched: it also puts the items of workers together to whole batches.
        async_options: arguments of the AsynchronousDataAccessor, a dict.
        rebatched_worker_size: items that workers load at once in the mode AsyncRebatched; None: those of a call.
        batch_sampler: gives the indices of micro-batches; those of a call are put together along the first dimension.

    Raises:
        poptorch.Error: a batch_sampler beside batch_size, shuffle or several processes.
        AssertionError: a shuffled data set of several processes without Options.randomSeed, an iterable one that is not partitioned by the user; a
            rebatched_worker_size above that of a call.
    """

    def __init__(self, options, dataset, batch_size=1, shuffle=None, num_workers=0, drop_last=True, persistent_workers=None,
                 auto_distributed_partitioning=True, mode=enums.DataLoaderMode.Sync, async_options=None, rebatched_worker_size=None, batch_sampler=None,
                 **kwargs):
        assert isinstance(mode, enums.DataLoaderMode)
        options._freeze()
        self._options, self._accessor = options, None
        self._drop_last = drop_last
        factor = (options.device_iterations * (options.replication_factor // options.input_group_size) * options.Training.gradient_accumulation)
        self._combined_batch_size = None if batch_size is None else batch_size * factor
        combined = self._combined_batch_size or 1
        rebatched = mode == enums.DataLoaderMode.AsyncRebatched or (mode == enums.DataLoaderMode.Async and not drop_last and combined > 1)
        rebatched = rebatched and batch_sampler is None and combined > 1
        iterable = isinstance(dataset, torch.utils.data.IterableDataset)
        if rebatched_worker_size is not None:
            assert rebatched_worker_size <= combined, f"rebatched_worker_size ({rebatched_worker_size}) is larger than the items of a call ({combined})"
        if iterable and num_workers > 1 and kwargs.get("worker_init_fn") is None:
            logger.warning("The data set is iterable and has several workers without a worker_init_fn: each worker loads all of its items.")
        processes = options.Distributed.numProcesses
        if batch_sampler is not None:
            self._take_batch_sampler(kwargs, batch_sampler, batch_size, shuffle, factor, drop_last, processes)
            dataset = _Batches(dataset, kwargs.pop("collate_fn", None) or torch.utils.data.default_collate)
            kwargs["collate_fn"] = _concatenated
        else:
            size = (rebatched_worker_size or combined) if rebatched else self._combined_batch_size
            kwargs.update(batch_size=size, drop_last=drop_last and not rebatched and batch_size is not None)
            if processes > 1 and auto_distributed_partitioning:
                kwargs["sampler"] = self._partition(options, dataset, iterable, shuffle, drop_last, combined)
            elif not iterable:
                kwargs["shuffle"] = bool(shuffle)
            if not drop_last and not iterable and batch_size is not None and len(dataset) % combined:
                logger.warning("The number of items (%d) is not a multiple of those of a call (%d): the last batch is smaller.", len(dataset), combined)
        persistent = num_workers > 0 if persistent_workers is None else persistent_workers
        super().__init__(dataset, num_workers=num_workers, persistent_workers=persistent and num_workers > 0, **kwargs)
        self._rebatched = combined if rebatched else None
        if mode != enums.DataLoaderMode.Sync:
            given = dict(async_options or {})
            assert "rebatched_size" not in given, "rebatched_size is what the mode AsyncRebatched sets"
            self._accessor = AsynchronousDataAccessor(_Own(self), rebatched_size=self._rebatched, _keep_rest=not drop_last, **given)

    @staticmethod
    def _take_batch_sampler(kwargs, sampler, batch_size, shuffle, factor, drop_last, processes):
        if batch_size not in (None, 1) or shuffle:
            raise createPoptorchError("batch_sampler goes with neither batch_size nor shuffle.")
        if processes > 1:
            raise createPoptorchError("batch_sampler does not go with several processes: its batches cannot be partitioned.")
        # Items of the data set are micro-batches, by their indices: what torch samples are lists of those.
        kwargs["batch_sampler"] = _Joined(sampler, factor, drop_last)

    @staticmethod
    def _partition(options, dataset, iterable, shuffle, drop_last, combined):
        assert not iterable, "An iterable data set has to be partitioned by the user: auto_distributed_partitioning=False"
        assert not shuffle or options.exists("random_seed"), "A shuffled data set of several processes needs Options.randomSeed"
        return _Partition(len(dataset), options.Distributed.processId, options.Distributed.numProcesses, combined, options.random_seed if shuffle else None,
                          drop_last)

    def _whole_batches(self):
        """Whether all items are of the same size."""
        return self.batch_size is None or (hasattr(self.dataset, "__len__") and len(self.dataset) % self._combined_batch_size == 0)

    @property
    def combinedBatchSize(self):
        """Items of one call."""
        return self._combined_batch_size

    @property
    def options(self):
        return self._options

    def __len__(self):
        if self._rebatched:
            count = len(self.sampler) if not isinstance(self.dataset, torch.utils.data.IterableDataset) else len(self.dataset)
            return count // self._rebatched if self._drop_last else -(-count // self._rebatched)
        return super().__len__()

    def __iter__(self):
        return super().__iter__() if self._accessor is None else iter(self._accessor)

    def _loader(self):
        return _Own(self)

    def terminate(self):
        """Ends the workers and the thread that loads ahead."""
        if self._accessor is not None:
            self._accessor.terminate()
        self._iterator = None


class _Own:
    """The items of a DataLoader, as torch loads them, by workers of its own."""

    def __init__(self, loader):
        self._loader_copy = copy.copy(loader)
        self._loader_copy.__dict__["_iterator"] = None

    def __iter__(self):
        return torch.utils.data.DataLoader.__iter__(self._loader_copy)

    def __len__(self):
        return len(self._loader_copy)
