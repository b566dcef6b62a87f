// The memory that a tile lends to others: it carries out their errands on it, without its interpreter.
#include <pando/tile.hpp>
#include <poplar/Vertex.hpp>

#include <cstring>

#include "ontile/codelets/window.h"
#include "ontile/port/exchange.h"
#include "ontile/protocol.h"

using namespace poplar;
using namespace pando::ontile;

class LentMemory : public Vertex {
 public:
  WindowParts window;
  Input<Vector<unsigned>> control;
  InOut<Vector<unsigned char>> memory;
  InOut<Vector<unsigned char>> answer;

  void compute() {
    if (control[3] != pando::tile_id()) return;
    exchange_errand_head errand;
    if (!read_window(window, control[2], &errand, sizeof errand)) return;
    if (errand.bytes > kBlockBytes || errand.at > memory.size() || errand.bytes > memory.size() - errand.at) return;
    if (errand.operation == errand_write)
      read_window(window, control[2] + sizeof errand, &memory[errand.at], errand.bytes);
    else
      memcpy(&answer[0], &memory[errand.at], errand.bytes);
  }
};
