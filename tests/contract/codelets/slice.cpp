// Codelets that use what the execution contract promises beyond public Poplar (include/pando/tile.hpp).
#include <poplar/Vertex.hpp>

#include <pando/tile.hpp>

using namespace poplar;

class Scale : public Vertex {
 public:
  Input<Vector<float>> x;
  Output<Vector<float>> y;
  float factor;
  void compute() {
    for (unsigned i = 0; i < x.size(); ++i) y[i] = x[i] * factor;
  }
};

// One mutable global and one function static: one copy of each per tile.
static unsigned calls = 10;
class Count : public Vertex {
 public:
  Output<unsigned> count;
  void compute() {
    static unsigned also = 1000;
    *count = ++calls + (also += 100);
  }
};

// A walk that suspends below two calls and goes on in later compute sets.
static float position;
__attribute__((noinline)) static void stroll(float step) {
  float local = step * 2;  // lives on the fiber's stack across the suspension
  position += step;
  pando::suspend();
  position += local;
}
__attribute__((noinline)) static void walk(void*) {
  stroll(1);
  stroll(10);
}

class Begin : public Vertex {
 public:
  Output<float> at;
  Output<int> state;
  void compute() {
    position = 0;
    *state = static_cast<int>(pando::fiber_start(0, walk, nullptr));
    *at = position;
  }
};

class GoOn : public Vertex {
 public:
  Output<float> at;
  Output<int> state;
  void compute() {
    *state = static_cast<int>(pando::fiber_resume(0));
    *at = position;
  }
};

// Adds the image's words, and counts in the image's first word.
class Table : public Vertex {
 public:
  static constexpr pando::Reserve pando_reserve{0x18000, 0x100};
  static constexpr const char* pando_image = "table";
  InOut<Vector<unsigned>> v;
  void compute() {
    unsigned* table = reinterpret_cast<unsigned*>(pando::tile_base() + pando_reserve.begin);
    for (unsigned i = 0; i < v.size(); ++i) v[i] += table[i];
    table[0] += 1;
  }
};

class Where : public Vertex {
 public:
  Output<Vector<unsigned>> found;  // tile, tiles, is the operand inside the tile's memory
  void compute() {
    const char* operand = reinterpret_cast<const char*>(&found[0]);
    found[0] = pando::tile_id();
    found[1] = pando::tile_count();
    found[2] = operand >= pando::tile_base() && operand < pando::tile_base() + pando::tile_size();
  }
};
