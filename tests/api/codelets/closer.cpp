// Vertices to look at: one prints, one makes NaN, one writes through a field that it only reads.
#include <print.h>
#include <poplar/Vertex.hpp>

using namespace poplar;

class Says : public Vertex {
 public:
  Input<Vector<int>> x;
  void compute() {
    printf("x[0] = %d\n", x[0]);
    printf("and ");
    puts("more");
    putchar('!');
    fprintf(stdout, "%s", "?");
    fputs("\n", stdout);
  }
};

class SaysTogether : public MultiVertex {
 public:
  Input<Vector<int>> x;
  void compute(unsigned worker) {
    if (worker == 2) printf("worker %u\n", worker);
  }
};

// y = x / (x - limit)
class Divide : public Vertex {
 public:
  Input<Vector<float>> x;
  Output<Vector<float>> y;
  float limit;
  void compute() {
    for (unsigned i = 0; i < y.size(); ++i) y[i] = (x[i] - limit) / (x[i] - limit);
  }
};

class Beside : public Vertex {
 public:
  Input<Vector<float>> x;
  Output<float> y;
  void compute() {
    const_cast<float&>(x[1]) = 7;
    *y = 1;
  }
};
