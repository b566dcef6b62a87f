"""The steps that `pando training-step mlp` describes, written by hand in PyTorch over two ranks, data parallel: one gradient of each weight, summed.

    torchrun --nproc-per-node 2 emit_hand.py LAYERS WIDTH BATCH STEPS

Prints the seconds of the quickest step and the sum of the last weight.
"""
import json
import sys
import time

import torch
import torch.distributed as dist


def main():
    layers, width, batch, steps = map(int, sys.argv[1:])
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    torch.manual_seed(dist.get_rank())
    x, z = torch.rand(batch // 2, width, requires_grad=True), torch.rand(batch // 2, width)
    weights = [torch.rand(width, width).div_(width).requires_grad_() for _ in range(layers)]
    seconds = []
    for _ in range(steps):
        begin = time.perf_counter()
        a = x
        for w in weights:
            a = torch.relu(a @ w)
        loss = torch.square(a - z) / (batch * width)
        x.grad = None
        loss.sum().backward()
        with torch.no_grad():
            for w in reversed(weights):
                dist.all_reduce(w.grad)
                w.sub_(w.grad, alpha=0.5)
                w.grad = None
        seconds.append(time.perf_counter() - begin)
    if dist.get_rank() == 0:
        print(json.dumps({"step": min(seconds)}))
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
