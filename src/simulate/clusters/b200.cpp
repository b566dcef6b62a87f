#include "simulate/cluster.h"

namespace pando::simulate {

// Sources. [card] NVIDIA's data sheet of the HGX B200: 2,250 TFLOP/s in half precision, 4,500 in 8-bit
// floats, 8,000 GB/s, 180 GB; [simumax] measured collectives
// of eight B200 (SimuMax's system file, release 1.2): NVLink at 900 GB/s reaches 67 % (gather, scatter) to 74 % (all-reduce), 5 to 9 us for
// each message. Between nodes: 400 Gbit/s a device, assumed.
Cluster cluster_b200() {
  Cluster c;
  c.name = "b200";
  c.doc = "B200 of 180 GB, nodes of 8 with NVSwitch, one NDR InfiniBand link for each device";
  c.source = "data sheet of the HGX B200; collectives as measured by SimuMax's authors in one node; network between nodes assumed";
  c.half_operations = 2.25e15;
  c.eight_bit_operations = 4.5e15;
  c.block_scaled = true;
  c.single_operations = 7.5e13;
  c.vector_operations = 1.5e14;
  c.matmul_efficiency.points = {{1e9, 0.1}, {1e10, 0.3}, {1e11, 0.45}, {1e12, 0.6}};
  c.memory_bytes_per_second = 8e12;
  c.memory_efficiency.points = {{1e6, 0.3}, {1e7, 0.6}, {1e8, 0.8}};
  c.memory_bytes = 180LL << 30;
  c.launch = 4e-6;
  c.optimizer_bytes = 40;
  c.far_bytes = 2048LL << 30;
  c.far_bytes_per_second = 6.4e10;
  NetworkLevel nvswitch;
  nvswitch.name = "nvswitch";
  nvswitch.devices = 8;
  nvswitch.bytes_per_second = 9e11;
  nvswitch.efficiency.points = {{1e6, 0.35}, {1e7, 0.6}, {1e8, 0.6735}};
  nvswitch.latency = 3e-6;
  nvswitch.slowdown = 0.1;
  NetworkLevel infiniband;
  infiniband.name = "infiniband";
  infiniband.devices = 16384;
  infiniband.bytes_per_second = 5e10;
  infiniband.efficiency.points = {{1e6, 0.5}, {1e8, 0.9}};
  infiniband.latency = 6e-6;
  infiniband.slowdown = 0.02;
  c.levels = {nvswitch, infiniband};
  c.provenance = {{"half_operations", "data sheet"},
                  {"eight_bit_operations", "data sheet"},
                  {"matmul_efficiency", "assumed; products and attention of some shapes are measured"},
                  {"memory_bytes_per_second", "data sheet"},
                  {"memory_efficiency", "assumed"},
                  {"memory_bytes", "data sheet"},
                  {"launch", "assumed"},
                  {"levels", "nvswitch measured (SimuMax); infiniband assumed"}};
  return c;
}

}  // namespace pando::simulate
