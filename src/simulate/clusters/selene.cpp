#include "simulate/cluster.h"

namespace pando::simulate {

// Sources. [card] NVIDIA's data sheet of the A100 SXM4 80 GB: 312 TFLOP/s in half precision, 78 without tensor cores, 2,039 GB/s; NVLink
// 600 GB/s, half of it in each direction. [pod] Selene: nodes of 8 behind one 200 Gbit/s link a device (InfiniBand HDR). Efficiencies:
// fitted, see the table of validation in docs/level/simulation.md, which names the rows.
Cluster cluster_selene() {
  Cluster c;
  c.name = "selene";
  c.doc = "A100 80 GB, nodes of 8 with NVSwitch, one HDR InfiniBand link for each device";
  c.source = "data sheet of the A100 SXM4; NVIDIA's description of Selene; efficiencies fitted to published steps";
  c.half_operations = 3.12e14;
  c.single_operations = 1.95e13;
  c.vector_operations = 7.8e13;
  // The smallest product of the published steps has 1e10 operations; smaller ones are bound by their launch, not by a share that was
  // fitted to large ones.
  c.matmul_efficiency = {.share = 0.78, .half = 2e10, .from = 1e10};
  // [bigscience] One pair of steps of 78 layers of 13,824: 153.9 s with 128 heads (of 108 numbers), 110.3 s with 96 (of 144).
  c.unaligned = 0.05;
  c.memory_bytes_per_second = 2.039e12;
  c.memory_efficiency.points = {{1e6, 0.5}, {1e7, 0.8}, {1e8, 0.9}};
  c.memory_bytes = 80LL << 30;
  c.launch = 2e-6;
  c.far_bytes = 512LL << 30;
  c.far_bytes_per_second = 3.2e10;
  NetworkLevel node;
  node.name = "nvswitch";
  node.devices = 8;
  node.bytes_per_second = 3e11;
  node.efficiency.points = {{1e5, 0.2}, {1e6, 0.45}, {1e7, 0.667}};
  node.latency = 5e-6;
  node.slowdown = 0.15;
  NetworkLevel pod;
  pod.name = "infiniband";
  pod.devices = 4480;
  pod.bytes_per_second = 2.5e10;
  pod.efficiency.points = {{1e6, 0.5}, {1e8, 0.9}};
  pod.latency = 1.5e-5;
  pod.slowdown = 0.02;
  c.levels = {node, pod};
  c.provenance = {{"half_operations", "data sheet"},           {"matmul_efficiency", "fitted to published steps"},
                  {"memory_bytes_per_second", "data sheet"},   {"memory_efficiency", "fitted to published steps"},
                  {"memory_bytes", "data sheet"},              {"launch", "assumed"},
                  {"levels", "nvswitch fitted to published steps; infiniband assumed"}};
  return c;
}

}  // namespace pando::simulate
