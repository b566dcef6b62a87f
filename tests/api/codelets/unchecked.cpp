// Vertices that go beyond their fields where `how` says so.
#include <poplar/Vertex.hpp>

using namespace poplar;

class Beyond : public Vertex {
 public:
  Input<Vector<float>> in;
  Output<Vector<float>> out;
  InOut<float> one;
  Vector<Input<Vector<int>>> rows;
  Vector<unsigned> list;
  int how;

  void compute() {
    const unsigned table[4] = {1, unsigned(how), 3, 4};
    for (unsigned i = 0; i < in.size(); ++i) out[i] = in[i] + *one;
    switch (how) {
      case 1: out[in.size()] = 1; break;
      case 2: out[0] = in[in.size() + 2]; break;
      case 3: (&*one)[1] = 4; break;
      case 4: out[0] = float(rows[1][5]); break;
      case 5: out[0] = float(rows[3].size()); break;
      case 6: out[0] = float(list[7]); break;
      case 7: out[0] = float(table[in.size()]); break;
      case 8: *(&in[0] - 1 + out.size() - out.size()) = 3; break;
      case 9: run_over(&out[0], 2 * in.size()); break;
      case 10: __builtin_memset(&out[0], 0, sizeof(float) * (in.size() + 1)); break;
      default: break;
    }
  }

  __attribute__((noinline)) static void run_over(float* to, unsigned n) {
    for (unsigned i = 0; i < n; ++i) to[i] = float(i);
  }
};

// Ways that stay inside.
class Inside : public Vertex {
 public:
  Input<Vector<float>> in;
  Output<Vector<float>> out;
  Vector<Input<Vector<int>>> rows;

  void compute() {
    const float* from = &in[0];
    const float* const end = from + in.size();
    float* to = &out[0] + out.size();
    while (from != end) *--to = *from++;
    int sum = 0;
    for (const auto& row : rows)
      for (int x : row) sum += x;
    out[0] += float(sum);
  }
};
