// The memory that a tile lends to others: it carries out their errands on it, without its interpreter.
#include <pando/tile.hpp>
#include <poplar/Vertex.hpp>

#include <cstring>

#include "ontile/port/exchange.h"
#include "ontile/protocol.h"

using namespace poplar;
using namespace pando::ontile;

class LentMemory : public Vertex {
 public:
  Input<Vector<unsigned char>> window;
  Input<Vector<unsigned>> control;
  InOut<Vector<unsigned char>> memory;
  InOut<Vector<unsigned char>> answer;

  void compute() {
    if (control[3] != pando::tile_id()) return;
    exchange_errand_head errand;
    memcpy(&errand, &window[control[2]], sizeof errand);
    if (errand.bytes > kBlockBytes || errand.at > memory.size() || errand.bytes > memory.size() - errand.at) return;
    if (errand.operation == errand_write) memcpy(&memory[errand.at], &window[control[2] + sizeof errand], errand.bytes);
    else memcpy(&answer[0], &memory[errand.at], errand.bytes);
  }
};
