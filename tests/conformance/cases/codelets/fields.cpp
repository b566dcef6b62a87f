// One codelet per form of field.
#include <poplar/HalfFloat.hpp>
#include <poplar/Vertex.hpp>

using namespace poplar;

class PlusOne : public Vertex {
 public:
  Input<Vector<float>> x;
  Output<Vector<float>> y;
  bool compute() {
    for (unsigned i = 0; i < x.size(); ++i) y[i] = x[i] + 1;
    return true;
  }
};

class Scalars : public Vertex {
 public:
  Input<float> a, b;
  Output<float> sum;
  InOut<float> product;
  void compute() {
    *sum = a + b;
    *product = *product * a;
  }
};

// Constructors that are declared and never defined, const and private members.
class State : Vertex {
  State();
  const float factor;
  const bool negate;
  unsigned short times;
  Vector<float> weights;
  InOut<Vector<float>> v;
  bool compute() {
    for (unsigned short t = 0; t < times; ++t)
      for (unsigned i = 0; i < v.size(); ++i) v[i] = v[i] * factor + weights[i % weights.size()];
    for (unsigned i = 0; negate && i < v.size(); ++i) v[i] = -v[i];
    return true;
  }
};

class Rows : public Vertex {
 public:
  Vector<Input<Vector<float>>> in;
  Vector<Output<Vector<float>>> out;
  Vector<InOut<Vector<float>>> both;
  bool compute() {
    for (unsigned r = 0; r < in.size(); ++r) {
      auto* from = &in[r][0];
      from = static_cast<const float*>(from);  // elements of a vector of inputs are const
      for (unsigned i = 0; i < in[r].size(); ++i) {
        out[r][i] = from[i] * 2;
        both[r][i] += in[r][i];
      }
    }
    return true;
  }
};

class ScalarVector : public Vertex {
 public:
  Vector<Input<float>> in;
  Vector<Output<float>> out;
  bool compute() {
    for (unsigned i = 0; i < in.size(); ++i) *out[in.size() - 1 - i] = in[i];
    return true;
  }
};

template <VectorListLayout L>
class Lists : public Vertex {
 public:
  Input<VectorList<float, L>> in;
  Output<float> sum;
  bool compute() {
    float total = 0;
    for (unsigned r = 0; r < in.size(); ++r)
      for (unsigned i = 0; i < in[r].size(); ++i) total += in[r][i] * (r + 1);
    *sum = total;
    return true;
  }
};
template class Lists<VectorListLayout::DELTANELEMENTS>;
template class Lists<VectorListLayout::COMPACT_DELTAN>;

// Layouts that have no size of their own.
class Layouts : public Vertex {
 public:
  Input<Vector<float, VectorLayout::ONE_PTR>> one;
  Input<Vector<float, VectorLayout::COMPACT_PTR, 8>> compact;
  Input<Vector<float, VectorLayout::SHORT_SPAN>> short_span;
  Input<Vector<float, VectorLayout::SCALED_PTR64, 8>> scaled;
  Output<Vector<float, VectorLayout::SPAN, 16>> out;
  unsigned n;
  bool compute() {
    for (unsigned i = 0; i < n; ++i) out[i] = one[i] + compact[i] * 10 + scaled[i] * 100 + short_span.size();
    return reinterpret_cast<unsigned long>(&out[0]) % 16 == 0 && reinterpret_cast<unsigned long>(&compact[0]) % 8 == 0;
  }
};

template <class T>
class Typed : public Vertex {
 public:
  Input<Vector<T>> x;
  Output<Vector<T>> y;
  T offset;
  bool compute() {
    for (unsigned i = 0; i < x.size(); ++i) y[i] = static_cast<T>(x[i] + offset);
    return true;
  }
};
template class Typed<float>;
template class Typed<half>;
template class Typed<int>;
template class Typed<unsigned>;
template class Typed<short>;
template class Typed<unsigned short>;
template class Typed<char>;
template class Typed<signed char>;
template class Typed<unsigned char>;
template class Typed<long long>;
template class Typed<unsigned long long>;
template class Typed<bool>;

class Workers : public MultiVertex {
 public:
  Input<Vector<float>> x;
  Output<Vector<float>> y;
  bool compute(unsigned worker) {
    for (unsigned i = worker; i < x.size(); i += numWorkers()) y[i] = x[i] * 10 + worker;
    return true;
  }
};

class Supervised : public SupervisorVertex {
 public:
  InOut<Vector<int>> v;
  bool compute() {
    for (int& value : v) value = value * value;
    return true;
  }
};

class IsBelow : public Vertex {
 public:
  Input<Vector<float>> x;
  float limit;
  bool compute() {
    for (float value : x)
      if (!(value < limit)) return false;
    return true;
  }
};

// One copy per tile.
static unsigned calls_on_this_tile = 7;
class CountCalls : public Vertex {
 public:
  Output<unsigned> calls;
  void compute() {
    static unsigned also = 100;
    *calls = ++calls_on_this_tile + ++also;
  }
};

// Reads its inputs by pairs, those that are no rows through pointers without const, whatever the layout; writes edges without a star;
// holds assembly of the host.
class Pairs : public Vertex {
 public:
  Input<Vector<float, VectorLayout::ONE_PTR, 8>> pointer;
  Input<Vector<float, VectorLayout::SPAN, 8>> span;
  Vector<Input<Vector<float, VectorLayout::SPAN, 8>>> rows;
  Vector<Output<float>, VectorLayout::ONE_PTR> sums;
  Output<float> first;
  InOut<float> last;
  unsigned pairs;
  bool compute() {
    asm volatile("nop" ::: "memory");
    const float2* p = reinterpret_cast<float2*>(&pointer[0]);
    const float2* s = reinterpret_cast<float2*>(&span[0]);
    const float2* r = reinterpret_cast<const float2*>(&rows[1][0]);
    float2 sum = {0, 0};
    for (unsigned i = 0; i < pairs; ++i) sum += p[i] * s[i] + r[i];
    sums[0] = sum[0];
    sums[1] = sum[1];
    first = sums[0];
    last = first;
    return true;
  }
};
