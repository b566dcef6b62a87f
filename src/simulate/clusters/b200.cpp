#include "simulate/cluster.h"

namespace pando::simulate {

// Sources. [card] NVIDIA's data sheet of the HGX B200: 2,250 TFLOP/s in half precision, 4,500 in 8-bit
// floats, 8,000 GB/s, 180 GB; [simumax] measured collectives
// of eight B200 (SimuMax's system file, release 1.2): NVLink at 900 GB/s reaches 67 % (gather, scatter) to 74 % (all-reduce), 5 to 9 us for
// each message.
Cluster cluster_b200() {
  Cluster c;
  c.name = "b200";
  c.doc = "8 B200 of 180 GB in one node with NVSwitch";
  c.source = "data sheet of the HGX B200; collectives as measured by SimuMax's authors";
  c.half_operations = 2.25e15;
  c.eight_bit_operations = 4.5e15;
  c.block_scaled = true;
  c.single_operations = 7.5e13;
  c.vector_operations = 1.5e14;
  c.matmul_efficiency.points = {{1e9, 0.1}, {1e10, 0.3}, {1e11, 0.45}, {1e12, 0.6}};
  c.memory_bytes_per_second = 8e12;
  c.memory_efficiency.points = {{1e6, 0.3}, {1e7, 0.6}, {1e8, 0.8}};
  c.optimizer_bytes = 40;
  c.memory_bytes = 180LL << 30;
  c.launch = 4e-6;
  c.far_bytes = 2048LL << 30;
  c.far_bytes_per_second = 6.4e10;
  NetworkLevel node;
  node.name = "nvswitch";
  node.devices = 8;
  node.bytes_per_second = 9e11;
  node.efficiency.points = {{1e6, 0.35}, {1e7, 0.6}, {1e8, 0.6735}};
  node.latency = 3e-6;
  node.slowdown = 0.1;
  c.levels = {node};
  return c;
}

}  // namespace pando::simulate
