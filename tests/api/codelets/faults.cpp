#include <poplar/Vertex.hpp>

#include <cassert>
#include <cstdlib>
#include <stdexcept>
#include <string>

using namespace poplar;

// Goes wrong where `kind` is not 0; else doubles.
class Faulty : public Vertex {
 public:
  Input<Vector<int>> x;
  Output<Vector<int>> y;
  int kind;

  __attribute__((noinline)) int deep(volatile int* n) const {
    volatile int frame[256];
    frame[0] = *n + 1;
    return frame[0] > 0 ? deep(frame) + frame[0] : 0;
  }

  void compute() {
    volatile int zero = 0;
    switch (kind) {
      case 1: *reinterpret_cast<volatile int*>(0x10) = 1; break;  // line 26
      case 2: y[0] = x[0] / zero; return;
      case 3: __builtin_trap();
      case 4: throw std::runtime_error("out of luck");
      case 5: y[0] = deep(&zero); return;
      case 6:
        for (;;) zero = zero + 1;
      case 7: throw 42;
      case 8: reinterpret_cast<void (*)()>(0x40)(); return;
      case 9: assert(kind != 9); return;
      case 10: std::abort();
      default: break;
    }
    for (unsigned i = 0; i < y.size(); ++i) y[i] = 2 * x[i];
  }
};

// The same, where the code can see its tile.
static int calls = 0;
class FaultyHere : public Vertex {
 public:
  Input<Vector<int>> x;
  Output<Vector<int>> y;
  int kind;
  void compute() {
    ++calls;
    if (kind == 1) *reinterpret_cast<volatile int*>(0x10) = 1;
    for (unsigned i = 0; i < y.size(); ++i) y[i] = 2 * x[i];
  }
};
