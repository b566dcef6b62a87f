"""When the tensors of a call went to the device and came back."""
import time


class Counters:
    """Times of the last call, in seconds: of each input and output, for each of its micro-batches.

    A program takes all inputs at its beginning and gives all outputs at its end, so the micro-batches of a tensor have the same times.
    """

    KEYS = ("input", "input_complete", "output", "output_complete")

    def __init__(self):
        self._times = {key: [[]] for key in self.KEYS}

    def note(self, times, inputs, outputs, steps, returned):
        """times: of the four moments; inputs, outputs: how many tensors; steps, returned: how many micro-batches of each."""
        for key, moment in zip(self.KEYS, times):
            incoming = key.startswith("input")
            self._times[key] = [[moment] * (steps if incoming else returned) for _ in range(inputs if incoming else outputs)]

    @staticmethod
    def now():
        return time.perf_counter()

    def times(self):
        return {key: [list(steps) for steps in tensors] for key, tensors in self._times.items()}

    def latency(self, first, last):
        """(least, largest, mean) seconds from one moment to another; zeros before the first call and without data."""
        starts, ends = ([[t for t in tensor] for tensor in self._times[key] if tensor] for key in (first, last))
        if not starts or not ends:
            return (0., 0., 0.)
        begin, end = [min(ts) for ts in zip(*starts)], [max(ts) for ts in zip(*ends)]
        # Where fewer micro-batches are returned than were given, the last ones count.
        count = min(len(begin), len(end))
        spans = [b - a for a, b in zip(begin[-count:], end[-count:])]
        return (min(spans), max(spans), sum(spans) / len(spans))
