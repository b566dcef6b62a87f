#include "simulate/cluster.h"

namespace pando::simulate {

// Sources. [card] AMD's data sheet of the MI300X: 1,307 TFLOP/s in half precision, 2,615 in 8-bit floats, 163 in single precision,
// 5,300 GB/s, 192 GB; seven links of 64 GB/s in each direction to the others of a node. What products reach is assumed: nothing here
// is measured.
Cluster cluster_mi300x() {
  Cluster c;
  c.name = "mi300x";
  c.doc = "MI300X of 192 GB, nodes of 8 with Infinity Fabric, one 400 Gbit/s link for each device";
  c.source = "data sheet of the MI300X; shares of the peak and network assumed";
  c.half_operations = 1.3074e15;
  c.eight_bit_operations = 2.6149e15;
  c.single_operations = 1.634e14;
  c.vector_operations = 1.634e14;
  c.matmul_efficiency.points = {{1e9, 0.15}, {1e10, 0.4}, {1e11, 0.55}, {1e12, 0.6}};
  c.memory_bytes_per_second = 5.3e12;
  c.memory_efficiency.points = {{1e6, 0.4}, {1e7, 0.65}, {1e8, 0.8}};
  c.memory_bytes = 192LL << 30;
  c.launch = 4e-6;
  c.far_bytes = 1024LL << 30;
  c.far_bytes_per_second = 5e10;
  NetworkLevel fabric;
  fabric.name = "fabric";
  fabric.devices = 8;
  fabric.bytes_per_second = 4.48e11;
  fabric.efficiency.points = {{1e6, 0.3}, {1e7, 0.55}, {1e8, 0.7}};
  fabric.latency = 4e-6;
  fabric.slowdown = 0.1;
  NetworkLevel infiniband;
  infiniband.name = "infiniband";
  infiniband.devices = 16384;
  infiniband.bytes_per_second = 5e10;
  infiniband.efficiency.points = {{1e6, 0.5}, {1e8, 0.9}};
  infiniband.latency = 6e-6;
  infiniband.slowdown = 0.02;
  c.levels = {fabric, infiniband};
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
