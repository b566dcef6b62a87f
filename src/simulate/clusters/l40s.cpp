#include "simulate/cluster.h"

namespace pando::simulate {

// Sources. [card] NVIDIA's data sheet of the L40S: 362 TFLOP/s in half precision, 733 in 8-bit floats, 91.6 in single precision, 864
// GB/s, 48 GB; PCIe 4 with 32 GB/s in each direction, no NVLink. What products reach is assumed: nothing here is measured.
Cluster cluster_l40s() {
  Cluster c;
  c.name = "l40s";
  c.doc = "L40S of 48 GB, nodes of 8 over PCIe, two 200 Gbit/s links for each node";
  c.source = "data sheet of the L40S; shares of the peak and network assumed";
  c.half_operations = 3.62e14;
  c.eight_bit_operations = 7.33e14;
  c.single_operations = 9.16e13;
  c.vector_operations = 9.16e13;
  c.matmul_efficiency.points = {{1e9, 0.15}, {1e10, 0.4}, {1e11, 0.55}, {1e12, 0.6}};
  c.memory_bytes_per_second = 8.64e11;
  c.memory_efficiency.points = {{1e6, 0.5}, {1e7, 0.75}, {1e8, 0.85}};
  c.memory_bytes = 48LL << 30;
  c.launch = 4e-6;
  c.far_bytes = 512LL << 30;
  c.far_bytes_per_second = 2.2e10;
  NetworkLevel pcie;
  pcie.name = "pcie";
  pcie.devices = 8;
  pcie.bytes_per_second = 3.2e10;
  pcie.efficiency.points = {{1e6, 0.5}, {1e7, 0.7}, {1e8, 0.75}};
  pcie.latency = 8e-6;
  pcie.slowdown = 0.1;
  NetworkLevel ethernet;
  ethernet.name = "ethernet";
  ethernet.devices = 4096;
  ethernet.bytes_per_second = 2.5e10;
  ethernet.efficiency.points = {{1e6, 0.5}, {1e8, 0.9}};
  ethernet.latency = 1e-5;
  ethernet.slowdown = 0.02;
  ethernet.shared_bytes_per_second = 5e10;
  c.levels = {pcie, ethernet};
  c.provenance = {{"half_operations", "data sheet"},
                  {"eight_bit_operations", "data sheet"},
                  {"matmul_efficiency", "assumed"},
                  {"memory_bytes_per_second", "data sheet"},
                  {"memory_efficiency", "assumed"},
                  {"memory_bytes", "data sheet"},
                  {"launch", "assumed"},
                  {"levels", "assumed: data sheets"}};
  return c;
}

}  // namespace pando::simulate
