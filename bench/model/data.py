"""Sizes and numbers of the networks that the model level and its peers run: the same for all."""
import functools

import numpy as np

MLP_BATCH, MLP_SIZES = 256, [784, 1024, 1024, 10]
BATCH, TOKENS, WIDTH, HEADS = 8, 128, 768, 12
SHAPES = {"qkv": (WIDTH, 3 * WIDTH), "qkv_b": (3 * WIDTH,), "out": (WIDTH, WIDTH), "out_b": (WIDTH,), "up": (WIDTH, 4 * WIDTH), "up_b": (4 * WIDTH,),
          "down": (4 * WIDTH, WIDTH), "down_b": (WIDTH,), "ln1": (WIDTH,), "ln1_b": (WIDTH,), "ln2": (WIDTH,), "ln2_b": (WIDTH,)}
ROUNDS = 4  # calls of as many steps each; a step's time is the best call's


@functools.lru_cache
def mlp_data():
    random = np.random.default_rng(0)
    x, y = random.normal(0, 1, (MLP_BATCH, 784)).astype(np.float32), random.integers(0, 10, MLP_BATCH).astype(np.int32)
    weights = []
    for a, b in zip(MLP_SIZES, MLP_SIZES[1:]):
        weights += [random.normal(0, np.sqrt(2 / a), (a, b)).astype(np.float32), np.zeros(b, np.float32)]
    return x, y, weights


@functools.lru_cache
def encoder_data():
    random = np.random.default_rng(0)
    x = random.normal(0, 1, (BATCH * TOKENS, WIDTH)).astype(np.float32)
    weights = {n: (np.ones(s) if n in ("ln1", "ln2") else random.normal(0, 0.02, s)).astype(np.float32) for n, s in SHAPES.items()}
    return x, random.normal(0, 1, x.shape).astype(np.float32), weights


def mlp_flops():
    """Of a training step's products: of each layer forward, and the gradients of weights and, but for the first layer, of what it reads."""
    layers = [2 * MLP_BATCH * a * b for a, b in zip(MLP_SIZES, MLP_SIZES[1:])]
    return 3 * sum(layers) - layers[0]


def encoder_flops():
    """Of the products of an encoder layer, forward, and of both of their gradients."""
    weights = sum(2 * BATCH * TOKENS * s[0] * s[1] for s in SHAPES.values() if len(s) == 2)
    return 3 * (weights + 2 * 2 * BATCH * TOKENS * TOKENS * WIDTH)


@functools.lru_cache
def resnet_data():
    """The shape of the images; the stem's weights and those of two blocks, what normalises them folded in as inference has it."""
    random = np.random.default_rng(0)
    weights = {}
    for n, shape in {"stem": (64, 3, 7, 7), **{f"{a}{i}": (64, 64, 3, 3) for i in range(2) for a in "ab"}}.items():
        weights[n] = random.normal(0, np.sqrt(1 / np.prod(shape[1:])), shape).astype(np.float32)
        weights[n + "_b"] = random.normal(0, 0.1, (64, 1, 1)).astype(np.float32)
    return (4, 3, 224, 224), weights


def input_of(shape):
    return np.random.default_rng(1).normal(0, 1, shape).astype(np.float32)
