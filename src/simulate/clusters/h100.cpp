#include "simulate/cluster.h"

namespace pando::simulate {

// Sources. [card] NVIDIA's data sheet of the H100 SXM: 989 TFLOP/s in half precision, 1,979 in 8-bit
// floats, 134 without tensor cores (half), 3,350 GB/s; NVLink
// 900 GB/s, half of it in each direction; 400 Gbit/s of InfiniBand a device. Efficiencies are those of selene: nothing here is fitted.
Cluster cluster_h100() {
  Cluster c;
  c.name = "h100";
  c.doc = "H100 SXM 80 GB, nodes of 8 with NVSwitch, one NDR InfiniBand link for each device";
  c.source = "data sheet of the H100 SXM; efficiencies of the A100";
  c.half_operations = 9.89e14;
  c.eight_bit_operations = 1.979e15;
  c.single_operations = 6.7e13;
  c.vector_operations = 1.34e14;
  c.matmul_efficiency.points = {{1e9, 0.15}, {1e10, 0.4}, {1e11, 0.65}, {1e12, 0.72}};
  c.memory_bytes_per_second = 3.35e12;
  c.memory_efficiency.points = {{1e6, 0.5}, {1e7, 0.72}, {1e8, 0.85}};
  c.memory_bytes = 80LL << 30;
  c.launch = 4e-6;
  c.far_bytes = 1024LL << 30;
  c.far_bytes_per_second = 6.4e10;
  NetworkLevel node;
  node.name = "nvswitch";
  node.devices = 8;
  node.bytes_per_second = 4.5e11;
  node.efficiency.points = {{1e6, 0.35}, {1e7, 0.6}, {1e8, 0.77}};
  node.latency = 3e-6;
  node.reduces_in_network = true;
  node.slowdown = 0.1;
  NetworkLevel pod;
  pod.name = "infiniband";
  pod.devices = 16384;
  pod.bytes_per_second = 5e10;
  pod.efficiency.points = {{1e6, 0.5}, {1e8, 0.9}};
  pod.latency = 6e-6;
  pod.slowdown = 0.02;
  c.levels = {node, pod};
  return c;
}

}  // namespace pando::simulate
