#include "simulate/cluster.h"

namespace pando::simulate {

// Sources. [card] NVIDIA's data sheet of the A100 SXM4 80 GB. Everything else is that of selene, whose shares of the peak were fitted
// to published steps of Megatron-LM.
Cluster cluster_a100_80() {
  Cluster c;
  c.name = "a100-80";
  c.doc = "A100 SXM4 80 GB, nodes of 8 with NVSwitch, one HDR InfiniBand link for each device";
  c.source = "data sheet of the A100 SXM4; shares of the peak as fitted to published steps of Selene";
  c.half_operations = 3.12e14;
  c.single_operations = 1.95e13;
  c.vector_operations = 7.8e13;
  c.matmul_efficiency = {.share = 0.78, .half = 2e10, .from = 1e10};
  // [bigscience] One pair of steps of 78 layers of 13,824: 153.9 s with 128 heads (of 108 numbers), 110.3 s with 96 (of 144).
  c.unaligned = 0.05;
  c.memory_bytes_per_second = 2.039e12;
  c.memory_efficiency.points = {{1e6, 0.5}, {1e7, 0.8}, {1e8, 0.9}};
  c.memory_bytes = 80LL << 30;
  c.launch = 2e-6;
  c.far_bytes = 512LL << 30;
  c.far_bytes_per_second = 2.2e10;
  NetworkLevel nvswitch;
  nvswitch.name = "nvswitch";
  nvswitch.devices = 8;
  nvswitch.bytes_per_second = 3e11;
  nvswitch.efficiency.points = {{1e5, 0.2}, {1e6, 0.45}, {1e7, 0.667}};
  nvswitch.latency = 5e-6;
  nvswitch.slowdown = 0.15;
  NetworkLevel infiniband;
  infiniband.name = "infiniband";
  infiniband.devices = 4480;
  infiniband.bytes_per_second = 2.5e10;
  infiniband.efficiency.points = {{1e6, 0.5}, {1e8, 0.9}};
  infiniband.latency = 1.5e-5;
  infiniband.slowdown = 0.02;
  c.levels = {nvswitch, infiniband};
  c.provenance = {{"half_operations", "data sheet"},
                  {"matmul_efficiency", "fitted to published steps of selene"},
                  {"unaligned", "fitted to one pair of published steps of jean-zay"},
                  {"memory_bytes_per_second", "data sheet"},
                  {"memory_efficiency", "fitted to published steps of selene"},
                  {"memory_bytes", "data sheet"},
                  {"launch", "assumed, as of selene"},
                  {"levels", "nvswitch fitted, as of selene; infiniband assumed"}};
  return c;
}

}  // namespace pando::simulate
