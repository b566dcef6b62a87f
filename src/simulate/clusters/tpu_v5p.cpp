#include "simulate/cluster.h"

namespace pando::simulate {

// Sources. [doc] Google's description of the TPU v5p: 459 TFLOP/s in bfloat16, 95 GB at 2,765 GB/s, 8,960 devices in a torus whose
// six links a device have 90 GB/s in each direction. Each kind of parallelism has one axis of the torus here, a ring in both
// directions; what it would gain on several axes is left out. The 918 TOP/s of 8 bits are of integers: it has no products in 8-bit
// floats. Shares of the peak are assumed.
Cluster cluster_tpu_v5p() {
  Cluster c;
  c.name = "tpu-v5p";
  c.doc = "TPU v5p of 95 GB in a torus of three dimensions";
  c.source = "published description of the TPU v5p; shares of the peak assumed";
  c.half_operations = 4.59e14;
  c.single_operations = 5.7e13;
  c.vector_operations = 5.7e13;
  c.matmul_efficiency.points = {{1e9, 0.2}, {1e10, 0.5}, {1e11, 0.7}, {1e12, 0.8}};
  c.memory_bytes_per_second = 2.765e12;
  c.memory_efficiency.points = {{1e6, 0.6}, {1e7, 0.8}, {1e8, 0.9}};
  c.memory_bytes = 95000000000LL;
  c.launch = 1e-6;
  c.far_bytes = 256LL << 30;
  c.far_bytes_per_second = 1.6e10;
  NetworkLevel torus;
  torus.name = "torus";
  torus.devices = 8960;
  torus.bytes_per_second = 1.8e11;
  torus.efficiency.points = {{1e6, 0.6}, {1e7, 0.85}, {1e8, 0.95}};
  torus.latency = 1e-6;
  torus.slowdown = 0.02;
  c.levels = {torus};
  c.provenance = {{"half_operations", "data sheet"},
                  {"matmul_efficiency", "assumed"},
                  {"memory_bytes_per_second", "data sheet"},
                  {"memory_efficiency", "assumed"},
                  {"memory_bytes", "data sheet"},
                  {"launch", "assumed"},
                  {"levels", "assumed: data sheets"}};
  return c;
}

}  // namespace pando::simulate
