#include "simulate/cluster.h"

namespace pando::simulate {

// Sources. [card] NVIDIA's data sheet of the H200 SXM: the H100's products, 141 GB at 4,800 GB/s, of which 0.91 were measured.
// [measured] one H200 of 700 W, by the script of pando calibrate --torch: measured_machines/h200.json has its rows. The network's
// shares of the peak are those of selene.
Cluster cluster_h200() {
  Cluster c;
  c.name = "h200";
  c.doc = "H200 SXM 141 GB, nodes of 8 with NVSwitch, one NDR InfiniBand link for each device";
  c.source =
      "data sheet of the H200 SXM; one H200 measured with pando calibrate --torch on 2026-11-27 "
      "(torch 2.11, CUDA 13.0, driver 580.159.04); network assumed";
  c.half_operations = 9.89e14;
  c.eight_bit_operations = 1.979e15;
  c.single_operations = 7.299e+13;  // with the best share of the curve 51.3 TFLOP/s, the quickest product that was measured
  c.vector_operations = 1.34e14;
  c.matmul_efficiency.points = {{4.194e+06, 0.000388}, {1.678e+07, 0.00299}, {2.684e+08, 0.0226}, {4.295e+09, 0.519}, {1.718e+10, 0.629},
                                {6.872e+10, 0.668}, {2.749e+11, 0.687}, {1.1e+12, 0.694}, {4.398e+12, 0.702}, {1.759e+13, 0.703}};
  c.memory_bytes_per_second = 4.371e+12;
  c.memory_efficiency.points = {{4.915e+04, 0.00151}, {1.966e+05, 0.00613}, {7.864e+05, 0.0243}, {3.146e+06, 0.0971},
                                {1.258e+07, 0.398}, {5.033e+07, 0.821}, {2.013e+08, 0.943}, {8.053e+08, 0.989}, {3.221e+09, 1}};
  c.memory_bytes = 150109880320LL;
  c.launch = 8.431e-07;
  c.optimizer_bytes = 41.69;
  c.far_bytes = 1024LL << 30;
  c.far_bytes_per_second = 5.508e+10;
  NetworkLevel nvswitch;
  nvswitch.name = "nvswitch";
  nvswitch.devices = 8;
  nvswitch.bytes_per_second = 4.5e11;
  nvswitch.efficiency.points = {{1e6, 0.35}, {1e7, 0.6}, {1e8, 0.77}};
  nvswitch.latency = 3e-6;
  nvswitch.slowdown = 0.1;
  nvswitch.reduces_in_network = true;
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
                  {"single_operations", "measured on one H200 SXM, 2026-11-27, by the best share of the curve"},
                  {"vector_operations", "data sheet"},
                  {"matmul_efficiency", "measured on one H200 SXM, 2026-11-27"},
                  {"memory_bytes_per_second", "measured on one H200 SXM, 2026-11-27"},
                  {"memory_efficiency", "measured on one H200 SXM, 2026-11-27"},
                  {"memory_bytes", "measured on one H200 SXM, 2026-11-27"},
                  {"launch", "measured on one H200 SXM, 2026-11-27"},
                  {"optimizer_bytes", "measured on one H200 SXM, 2026-11-27"},
                  {"far_bytes", "assumed"},
                  {"far_bytes_per_second", "measured on one H200 SXM, 2026-11-27"},
                  {"levels", "assumed: data sheets, shares of the peak as of selene"}};
  return c;
}

}  // namespace pando::simulate
