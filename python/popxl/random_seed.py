"""Seeds of random numbers, made on the host."""
from popxl._lazy import np

MAX_UINT64 = 2**64 - 1
MAX_UINT32 = 2**32 - 1


def uint64_to_two_uint32(num):
    """(high, low) words of a number of 64 bits. Raises ValueError for what does not fit."""
    if not 0 <= num <= MAX_UINT64:
        raise ValueError(f"{num} is not an unsigned number of 64 bits.")
    return num >> 32, num & MAX_UINT32


def two_uint32_to_uint64(a, b):
    """The number whose high word is `a` and whose low word is `b`."""
    return (int(a) << 32) | int(b)


def create_seeds(seed, offset=0, batches_per_step=1, gradient_accumulation_factor=1, replicas=1):
    """Different seeds for each micro-batch and replica, from one seed.

    Args:
        seed: where to begin, an unsigned number of 64 bits.
        offset: added to it, such as the number of steps already done.
        batches_per_step, gradient_accumulation_factor, replicas: dimensions of the result; those of 1 are left out.

    Returns:
        uint32, (batches_per_step, gradient_accumulation_factor, replicas, 2) without the dimensions of 1.
    """
    dimensions = (batches_per_step, gradient_accumulation_factor, replicas)
    drawn = np.random.default_rng(seed + offset).integers(low=0, high=MAX_UINT64, size=dimensions, dtype=np.uint64, endpoint=True)
    words = np.stack([drawn >> np.uint64(32), drawn & np.uint64(MAX_UINT32)], axis=-1).astype(np.uint32)
    return words.reshape([d for d in dimensions if d != 1] + [2])
