#include "simulate/cluster.h"

namespace pando::simulate {

// Sources. [card] NVIDIA's data sheet of the V100 SXM3 32 GB; [distir] the constants that reproduce DistIR's published grid
// (reference_costs.cpp): they are what its calibration measured on a DGX-2, so they count as measured.
Cluster cluster_dgx2() {
  Cluster c;
  c.name = "dgx2";
  c.doc = "16 V100 of 32 GB in one DGX-2";
  c.source = "data sheet of the V100 SXM3; constants that DistIR's published grid was calibrated with";
  c.half_operations = 1.25e14;   // [card]
  c.single_operations = 1.57e13;  // [card]
  c.vector_operations = 1.57e13;
  c.matmul_efficiency.points = {{1e8, 0.1}, {1e9, 0.35}, {1e10, 0.65}, {1e11, 0.776}};  // the last: [distir] 9.698e13 FLOP/s
  c.memory_bytes_per_second = 9e11;                                                      // [card]
  c.memory_efficiency.points = {{1e5, 0.3}, {1e6, 0.6}, {1e7, 0.85}};
  c.memory_bytes = 32LL << 30;
  c.launch = 1e-5;  // [distir]
  c.far_bytes = 1500LL << 30;
  c.far_bytes_per_second = 1.2e10;
  NetworkLevel node;
  node.name = "nvswitch";
  node.devices = 16;
  node.bytes_per_second = 1.369e11;  // [distir] 1095.31 Gbit/s
  node.latency = 6e-6;
  c.levels = {node};
  return c;
}

}  // namespace pando::simulate
