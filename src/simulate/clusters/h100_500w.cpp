#include "simulate/cluster.h"
#include "simulate/shipped_rows.h"

namespace pando::simulate {

// Sources. [titan] torchtitan's benchmarks of December 2024: H100 with 96 GB of HBM2e at 2.4 TB/s and a power limit of 500 W, 400 Gbit/s of
// network a device. Everything else is that of h100; what products and attention reach is assumed to be in proportion to the power.
Cluster cluster_h100_500w() {
  Cluster c;
  c.name = "h100-500w";
  c.doc = "H100 SXM of 96 GB HBM2e at 500 W (Grand Teton), nodes of 8 with NVSwitch, 400 Gbit/s for each device";
  c.source =
      "description of torchtitan's benchmarks of December 2024; products as measured on an H100 "
      "of 700 W, in proportion to the power";
  c.half_operations = 9.89e14;
  c.eight_bit_operations = 1.979e15;
  c.single_operations = 7.314e+13;  // with the best share of the curve 51.22 TFLOP/s, the quickest product that was measured
  c.vector_operations = 1.34e14;
  c.matmul_efficiency.points = {{4.194e+06, 0.000302}, {1.678e+07, 0.0024}, {2.684e+08, 0.0195}, {4.295e+09, 0.475}, {1.718e+10, 0.598},
                                {6.872e+10, 0.658}, {2.749e+11, 0.683}, {1.1e+12, 0.693}, {4.398e+12, 0.7}, {1.759e+13, 0.695}};
  c.memory_bytes_per_second = 2.4e12 * 0.91;
  for (auto& [operations, share] : c.matmul_efficiency.points) share *= kShareAt500Watts;
  c.memory_efficiency.points = {{4.915e+04, 0.00219}, {1.966e+05, 0.01}, {7.864e+05, 0.0412}, {3.146e+06, 0.233},
                                {1.258e+07, 0.653}, {5.033e+07, 0.873}, {2.013e+08, 0.963}, {8.053e+08, 0.993}, {3.221e+09, 1}};
  c.memory_bytes = 96000000000LL;
  c.launch = 1.025e-06;
  c.optimizer_bytes = 38.62;
  c.far_bytes = 1024LL << 30;
  c.far_bytes_per_second = 5.494e+10;
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
                  {"single_operations", "assumed, as measured on an H100"},
                  {"vector_operations", "data sheet"},
                  {"matmul_efficiency", "assumed: as measured on an H100 of 700 W, in proportion to the power"},
                  {"memory_bytes_per_second", "its description"},
                  {"memory_efficiency", "assumed, as measured on an H100"},
                  {"memory_bytes", "its description"},
                  {"launch", "assumed, as measured on an H100"},
                  {"optimizer_bytes", "assumed, as measured on an H100"},
                  {"far_bytes", "assumed"},
                  {"far_bytes_per_second", "assumed, as measured on an H100"},
                  {"levels", "assumed: data sheets, shares of the peak as of selene"}};
  return c;
}

}  // namespace pando::simulate
