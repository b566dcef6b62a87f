#include "simulate/cluster.h"

namespace pando::simulate {

// Sources. [card] Graphcore's data sheets of the Bow IPU and the Bow Pod16: 350 TFLOP/s in half precision, 87.4 in single, 900 MB of tile
// memory at
// 65.4 TB/s; IPU-Links of 64 GB/s in each direction to a neighbour (320 GB/s a device in all); 100 Gbit/s Ethernet between pods; Streaming
// Memory: 256 GB for four IPUs at 20 GB/s each. Efficiencies are not measured: the cycle model of this project is the better judge.
Cluster cluster_bow_pod() {
  Cluster c;
  c.name = "bow-pod";
  c.doc = "Bow IPUs: machines of 4, pods of 16 over IPU-Links, Ethernet beyond";
  c.source = "data sheets of the Bow IPU and the Bow Pod16; efficiencies are assumed";
  c.half_operations = 3.5e14;
  c.single_operations = 8.74e13;
  c.vector_operations = 1.7e13;
  c.matmul_efficiency.points = {{1e7, 0.1}, {1e8, 0.3}, {1e9, 0.5}, {1e10, 0.6}};
  c.memory_bytes_per_second = 6.54e13;
  c.memory_efficiency.points = {{1e4, 0.1}, {1e6, 0.5}};
  c.memory_bytes = 1472LL * 624 * 1024;
  c.launch = 1e-6;
  c.far_bytes = 64LL << 30;
  c.far_bytes_per_second = 2e10;
  NetworkLevel machine;
  machine.name = "ipu-machine";
  machine.devices = 4;
  machine.bytes_per_second = 1.28e11;
  machine.latency = 1.5e-6;
  machine.slowdown = 1;
  NetworkLevel pod = machine;
  pod.name = "ipu-links";
  pod.devices = 64;
  pod.bytes_per_second = 6.4e10;
  pod.latency = 2.5e-6;
  NetworkLevel ethernet = machine;
  ethernet.name = "ethernet";
  ethernet.devices = 1024;
  ethernet.bytes_per_second = 1.25e10;
  ethernet.shared_bytes_per_second = 1.25e10;
  ethernet.latency = 1e-5;
  ethernet.slowdown = 0;
  c.levels = {machine, pod, ethernet};
  return c;
}

}  // namespace pando::simulate
