#include "simulate/cluster.h"

namespace pando::simulate {

// Sources. [card] NVIDIA's data sheet of the GB200 NVL72: 2,500 TFLOP/s in half precision, 5,000 in 8-bit floats, 8,000 GB/s, 186 GB
// a device; NVLink 1,800 GB/s, half of it in each direction, among 72 devices. Shares of the peak: those of b200.
Cluster cluster_gb200() {
  Cluster c;
  c.name = "gb200";
  c.doc = "GB200 of 186 GB, racks of 72 with NVLink (NVL72), one NDR InfiniBand link for each device";
  c.source = "data sheet of the GB200 NVL72; shares of the peak as of b200; network between racks assumed";
  c.half_operations = 2.5e15;
  c.eight_bit_operations = 5e15;
  c.block_scaled = true;
  c.single_operations = 8e13;
  c.vector_operations = 1.6e14;
  c.matmul_efficiency.points = {{1e9, 0.1}, {1e10, 0.3}, {1e11, 0.45}, {1e12, 0.6}};
  c.memory_bytes_per_second = 8e12;
  c.memory_efficiency.points = {{1e6, 0.3}, {1e7, 0.6}, {1e8, 0.8}};
  c.memory_bytes = 186000000000LL;
  c.launch = 4e-6;
  c.optimizer_bytes = 40;
  c.far_bytes = 240LL << 30;
  c.far_bytes_per_second = 4.5e11;
  NetworkLevel nvlink;
  nvlink.name = "nvlink";
  nvlink.devices = 72;
  nvlink.bytes_per_second = 9e11;
  nvlink.efficiency.points = {{1e6, 0.35}, {1e7, 0.6}, {1e8, 0.6735}};
  nvlink.latency = 3e-6;
  nvlink.slowdown = 0.1;
  nvlink.reduces_in_network = true;
  NetworkLevel infiniband;
  infiniband.name = "infiniband";
  infiniband.devices = 18432;
  infiniband.bytes_per_second = 5e10;
  infiniband.efficiency.points = {{1e6, 0.5}, {1e8, 0.9}};
  infiniband.latency = 6e-6;
  infiniband.slowdown = 0.02;
  c.levels = {nvlink, infiniband};
  c.provenance = {{"half_operations", "data sheet"},
                  {"eight_bit_operations", "data sheet"},
                  {"matmul_efficiency", "assumed, as of b200"},
                  {"memory_bytes_per_second", "data sheet"},
                  {"memory_efficiency", "assumed"},
                  {"memory_bytes", "data sheet"},
                  {"launch", "assumed"},
                  {"levels", "assumed: data sheets, shares of the peak as of b200"}};
  return c;
}

}  // namespace pando::simulate
