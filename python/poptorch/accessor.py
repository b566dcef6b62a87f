"""Data that are loaded while a program runs."""
import queue
import sys
import threading
import traceback

import torch

from poptorch import enums, structure
from poptorch.errors import createPoptorchError
from poptorch.logging import logger

_END, _FAILED = object(), object()


class _Rebatcher:
    """Puts batches of any size together to batches of one size along the first dimension. keep_rest: whether a smaller one may come last."""

    def __init__(self, size, keep_rest):
        self._size, self._keep_rest = size, keep_rest

    def __call__(self, items):
        held, count = [], 0
        for item in items:
            tensors, form = structure.flatten(item)
            held.append(tensors)
            count += tensors[0].shape[0]
            while count >= self._size:
                whole = [torch.cat(parts) for parts in zip(*held)]
                yield structure.unflatten(form, iter(t[:self._size].clone() for t in whole))
                count -= self._size
                held = [[t[self._size:] for t in whole]] if count else []
        if count and self._keep_rest:
            yield structure.unflatten(form, iter(torch.cat(parts) for parts in zip(*held)))


class _Buffers:
    """How many items are ready: `indices_mem` has a 1 for each place of the buffer that holds one."""

    def __init__(self, ready, size):
        self._ready, self._size = ready, size

    @property
    def indices_mem(self):
        count = min(self._ready.qsize(), self._size)
        return [1] * count + [0] * (self._size - count)


class _Worker:
    """A thread that iterates over a data set, again and again, and keeps `size` items ready.

    The thread takes the first item before it is asked; the others when it is, or at once (early).
    """

    def __init__(self, dataset, size, early, endless, rebatch):
        self._dataset, self._rebatch, self._endless = dataset, rebatch, endless
        self._ready = queue.Queue(size)
        self._data_buffers = _Buffers(self._ready, size)
        self._asked, self._stop = threading.Event(), threading.Event()
        self._next_epoch = threading.Event()
        self.started = threading.Event()
        self.failed = False
        if early:
            self._asked.set()
        self._thread = threading.Thread(target=self._run, daemon=True, name="AsynchronousDataAccessor")
        self._thread.start()

    def _put(self, item):
        """Whether the item was taken: it is not when the accessor ends."""
        while not self._stop.is_set():
            try:
                self._ready.put(item, timeout=0.1)
                return True
            except queue.Full:
                pass
        return False

    def _wait(self, event):
        while not event.wait(0.1):
            if self._stop.is_set():
                return False
        return not self._stop.is_set()

    def _run(self):
        try:
            while not self._stop.is_set():
                if not self._epoch():
                    return
                if not self._endless and not self._wait(self._next_epoch):
                    return
                self._next_epoch.clear()
        except BaseException:
            traceback.print_exc(file=sys.stderr)
            self.failed = True
            self.started.set()
            self._put(_FAILED)

    def _epoch(self):
        empty = True
        items = iter(self._dataset)
        for item in self._rebatch(items) if self._rebatch else items:
            if not self._put(item):
                return False
            if empty:
                empty = False
                self.started.set()
                if not self._wait(self._asked):
                    return False
        if empty:
            raise ValueError("The data set has no items.")
        return self._put(_END)

    def get(self):
        self._asked.set()
        return self._ready.get()

    def begin_epoch(self):
        """The next epoch may begin."""
        self._next_epoch.set()

    def end(self):
        self._stop.set()
        self._asked.set()
        self._next_epoch.set()
        self._thread.join(timeout=10)


class AsynchronousDataAccessor:
    """Iterates over a data set that a thread loads ahead.

    Args:
        dataset: iterable: a poptorch.DataLoader, or a data set of torch.
        buffer_size: items that are kept ready.
        load_indefinitely: whether the next epoch is begun before it is asked for.
        early_preload: whether the buffer is filled at once, or when the first item is taken.
        rebatched_size: items are cut and put together to this many along the first dimension; None: they stay what they are.
        miss_sleep_time_in_ms, sharing_strategy: accepted; the items are in the memory of the process.

    Raises:
        poptorch.Error: the data set fails with its first item, or has none; a DataLoader that has an accessor of its own.
        AssertionError: a DataLoader with drop_last=False whose last item is smaller, without rebatched_size.
    """

    def __init__(self, dataset, buffer_size=3, miss_sleep_time_in_ms=0.1, load_indefinitely=True, early_preload=False,
                 sharing_strategy=enums.SharingStrategy.ForkServer, rebatched_size=None, _keep_rest=None):
        if getattr(dataset, "_accessor", None) is not None:
            raise createPoptorchError("The DataLoader already has a data accessor: its mode is asynchronous.")
        assert rebatched_size is None or rebatched_size > 1, "rebatched_size must be greater than 1"
        drops = getattr(dataset, "drop_last", True)
        if rebatched_size is None and (getattr(dataset, "combinedBatchSize", None) or 1) > 1 and hasattr(dataset, "drop_last"):
            assert drops or dataset._whole_batches(), "drop_last=False with a last item that is smaller needs rebatched_size"
        self._dataset, self._finished = dataset, False
        rebatch = _Rebatcher(rebatched_size, not drops if _keep_rest is None else _keep_rest) if rebatched_size else None
        self._worker = _Worker(self._items(dataset), buffer_size, early_preload, load_indefinitely, rebatch)
        logger.debug("AsynchronousDataAccessor: a thread of process loads ahead")
        self._worker.started.wait()
        if self._worker.failed:
            raise createPoptorchError("AsynchronousDataAccessor: worker thread failed to start (see the error above).")
        self._in_epoch = False

    @staticmethod
    def _items(dataset):
        """What the thread iterates over: of a DataLoader its own items, not those of its accessor."""
        return dataset._loader() if hasattr(dataset, "_loader") else dataset

    def __len__(self):
        return len(self._dataset)

    def __iter__(self):
        if self._in_epoch:
            self._skip()
        self._worker.begin_epoch()
        self._in_epoch = True
        while True:
            item = self._take()
            if item is _END:
                self._in_epoch = False
                return
            yield item

    def _take(self):
        item = self._worker.get()
        if item is _FAILED:
            raise createPoptorchError("AsynchronousDataAccessor: the worker died (see the error above).")
        return item

    def _skip(self):
        """Leaves out the rest of an epoch."""
        while self._take() is not _END:
            pass
        self._in_epoch = False

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.terminate()

    def __del__(self):
        if getattr(self, "_worker", None) is not None:
            self._worker._stop.set()

    def terminate(self):
        """Ends the thread."""
        self._worker.end()
