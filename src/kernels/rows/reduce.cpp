#include "kernels/rows/reduce.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "kernels/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rows/reduce.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

#include "kernels/half_lanes.h"

HWY_BEFORE_NAMESPACE();
namespace pando::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Columns whose accumulators are kept at a time (in the first-level cache), and the rows that are added before these are touched.
constexpr std::size_t kColumns = 1024;
constexpr unsigned kRows = 8;
// The loops over columns are made of steps of so many.
#define PANDO_COLUMN_STEP 16
// Vector steps of one run in float.
constexpr std::size_t kSteps = 32;

template <class T>
constexpr bool is_real = std::is_same_v<T, float> || std::is_same_v<T, _Float16>;
// What elements are combined in, and what many results of that are.
template <class T>
using Work = std::conditional_t<is_real<T>, float, T>;
template <class T>
using Sum = std::conditional_t<is_real<T>, double, T>;

struct Add {
  template <class T> static constexpr T identity() { return T(0); }
  template <class T> static HWY_ATTR HWY_INLINE T lift(T x) { return x; }
  template <class T> static HWY_ATTR HWY_INLINE T of(T a, T b) { return a + b; }
  template <class V> static HWY_ATTR HWY_INLINE V lift_vector(V x) { return x; }
  template <class V> static HWY_ATTR HWY_INLINE V of_vectors(V a, V b) { return hn::Add(a, b); }
};

struct SquareAdd : Add {
  template <class T> static HWY_ATTR HWY_INLINE T lift(T x) { return x * x; }
  template <class V> static HWY_ATTR HWY_INLINE V lift_vector(V x) { return hn::Mul(x, x); }
};

struct Mul {
  template <class T> static constexpr T identity() { return T(1); }
  template <class T> static HWY_ATTR HWY_INLINE T lift(T x) { return x; }
  template <class T> static HWY_ATTR HWY_INLINE T of(T a, T b) { return a * b; }
  template <class V> static HWY_ATTR HWY_INLINE V lift_vector(V x) { return x; }
  template <class V> static HWY_ATTR HWY_INLINE V of_vectors(V a, V b) { return hn::Mul(a, b); }
};

// A NaN stays, wherever it stands. Of vectors, minimum and maximum of x86 give NaN if the second operand is; those of Arm give the other
// operand.
template <class T>
HWY_ATTR HWY_INLINE bool is_nan(T x) {
  return x != x;
}
template <class V>
HWY_ATTR HWY_INLINE V keep_nan(V a, [[maybe_unused]] V b, V chosen) {
  if constexpr (hwy::IsFloat<hn::TFromV<V>>()) {
#if !HWY_ARCH_X86
    chosen = hn::IfThenElse(hn::IsNaN(b), b, chosen);
#endif
    chosen = hn::IfThenElse(hn::IsNaN(a), a, chosen);
  }
  return chosen;
}

struct Min {
  template <class T> static constexpr T identity() {
    return std::is_floating_point_v<T> ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();
  }
  template <class T> static HWY_ATTR HWY_INLINE T lift(T x) { return x; }
  template <class T> static HWY_ATTR HWY_INLINE T of(T a, T b) { return a < b || is_nan(a) ? a : b; }
  template <class V> static HWY_ATTR HWY_INLINE V lift_vector(V x) { return x; }
  template <class V> static HWY_ATTR HWY_INLINE V of_vectors(V a, V b) { return keep_nan(a, b, hn::Min(a, b)); }
};

struct Max {
  template <class T> static constexpr T identity() {
    return std::is_floating_point_v<T> ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest();
  }
  template <class T> static HWY_ATTR HWY_INLINE T lift(T x) { return x; }
  template <class T> static HWY_ATTR HWY_INLINE T of(T a, T b) { return a > b || is_nan(a) ? a : b; }
  template <class V> static HWY_ATTR HWY_INLINE V lift_vector(V x) { return x; }
  template <class V> static HWY_ATTR HWY_INLINE V of_vectors(V a, V b) { return keep_nan(a, b, hn::Max(a, b)); }
};

template <class D>
HWY_ATTR HWY_INLINE hn::Vec<D> load(D d, const float* p) {
  return hn::LoadU(d, p);
}
template <class D>
HWY_ATTR HWY_INLINE hn::Vec<D> load(D d, const _Float16* p) {
  return load_halfs(d, reinterpret_cast<const hwy::float16_t*>(p));
}

// One value of a vector's lanes.
template <class Op, class D>
HWY_ATTR HWY_INLINE float across(D d, hn::Vec<D> v) {
  alignas(64) float lanes[hn::MaxLanes(d)];
  hn::Store(v, d, lanes);
  for (std::size_t half = hn::Lanes(d) / 2; half > 0; half /= 2)
    for (std::size_t i = 0; i < half; ++i) lanes[i] = Op::of(lanes[i], lanes[i + half]);
  return lanes[0];
}

// One value of n elements in a row.
template <class Op, class In>
HWY_ATTR HWY_INLINE Sum<In> of_run(const In* p, std::size_t n) {
  Sum<In> total = Op::template identity<Sum<In>>();
  if constexpr (is_real<In>) {
    const hn::ScalableTag<float> d;
    const std::size_t lanes = hn::Lanes(d);
    while (n >= 4 * lanes) {
      const std::size_t steps = std::min(n / (4 * lanes), kSteps);
      auto a = Op::lift_vector(load(d, p)), b = Op::lift_vector(load(d, p + lanes));
      auto c = Op::lift_vector(load(d, p + 2 * lanes)), e = Op::lift_vector(load(d, p + 3 * lanes));
      for (std::size_t s = 1; s < steps; ++s) {
        p += 4 * lanes;
        a = Op::of_vectors(a, Op::lift_vector(load(d, p)));
        b = Op::of_vectors(b, Op::lift_vector(load(d, p + lanes)));
        c = Op::of_vectors(c, Op::lift_vector(load(d, p + 2 * lanes)));
        e = Op::of_vectors(e, Op::lift_vector(load(d, p + 3 * lanes)));
      }
      p += 4 * lanes;
      n -= 4 * lanes * steps;
      total = Op::of(total, double{across<Op>(d, Op::of_vectors(Op::of_vectors(a, b), Op::of_vectors(c, e)))});
    }
    if (n >= lanes) {
      auto a = Op::lift_vector(load(d, p));
      for (p += lanes, n -= lanes; n >= lanes; p += lanes, n -= lanes) a = Op::of_vectors(a, Op::lift_vector(load(d, p)));
      total = Op::of(total, double{across<Op>(d, a)});
    }
  }
  for (std::size_t i = 0; i < n; ++i) total = Op::of(total, static_cast<Sum<In>>(Op::lift(static_cast<Work<In>>(p[i]))));
  return total;
}

// values[i] of the i-th of `rows` runs of n elements.
template <class Op, class In>
HWY_ATTR void of_rows(const In* p, std::size_t rows, std::size_t n, Sum<In>* values) {
  for (std::size_t i = 0; i < rows; ++i) values[i] = of_run<Op>(p + i * n, n);
}

// acc[j] = acc[j] op row[0][j] op ... op row[N - 1][j].
template <class Op, unsigned N, class In>
HWY_ATTR void add_rows(const In* const* row, std::size_t n, Sum<In>* HWY_RESTRICT acc) {
  // Clang compares what it knows to come from _Float16 one by one.
  if constexpr (std::is_same_v<In, _Float16> && (std::is_same_v<Op, Min> || std::is_same_v<Op, Max>)) {
    constexpr std::size_t kChunk = 64;
    float wide[N][kChunk];
    const float* floats[N];
    for (unsigned i = 0; i < N; ++i) floats[i] = wide[i];
    for (std::size_t begin = 0; begin < n; begin += kChunk) {
      const std::size_t m = std::min(n - begin, kChunk);
      for (unsigned i = 0; i < N; ++i)
        for (std::size_t j = 0; j < m; ++j) wide[i][j] = static_cast<float>(row[i][begin + j]);
      add_rows<Op, N>(floats, m, acc + begin);
    }
    return;
  }
  using W = Work<In>;
  const In* r[N];
  for (unsigned i = 0; i < N; ++i) r[i] = row[i];
#pragma clang loop vectorize_width(PANDO_COLUMN_STEP) interleave_count(1)
  for (std::size_t j = 0; j < n; ++j) {
    W v[N];
    for (unsigned i = 0; i < N; ++i) v[i] = Op::lift(static_cast<W>(r[i][j]));
    for (unsigned half = N / 2; half > 0; half /= 2)
      for (unsigned i = 0; i < half; ++i) v[i] = Op::of(v[i], v[i + half]);
    acc[j] = Op::of(acc[j], static_cast<Sum<In>>(v[0]));
  }
}

template <class Op, class A>
HWY_ATTR void add_sums(const A* HWY_RESTRICT from, std::size_t n, A* HWY_RESTRICT to) {
  for (std::size_t i = 0; i < n; ++i) to[i] = Op::of(to[i], from[i]);
}

// What is compiled for each pair of an operation and a type of elements. All around it is compiled for each type alone.
template <class In>
struct Loops {
  Sum<In> identity;
  Sum<In> (*of)(Sum<In> a, Sum<In> b);
  void (*of_rows)(const In* p, std::size_t rows, std::size_t n, Sum<In>* values);
  // Of 1, 2, 4 and 8 rows.
  void (*add_rows[4])(const In* const* row, std::size_t n, Sum<In>* acc);
  void (*add_sums)(const Sum<In>* from, std::size_t n, Sum<In>* to);
};
template <class Op, class In>
constexpr Loops<In> kLoopsOf = {Op::template identity<Sum<In>>(),
                                [](Sum<In> a, Sum<In> b) HWY_ATTR { return Op::of(a, b); },
                                &of_rows<Op, In>,
                                {&add_rows<Op, 1, In>, &add_rows<Op, 2, In>, &add_rows<Op, 4, In>, &add_rows<Op, kRows, In>},
                                &add_sums<Op, Sum<In>>};

// Columns of rows that come one by one.
template <class In>
struct Rows {
  const Loops<In>& loops;
  Sum<In>* acc;
  std::size_t width;
  const In* row[kRows];
  unsigned waiting = 0;

  HWY_ATTR Rows(const Loops<In>& of, Sum<In>* accumulators, std::size_t columns) : loops(of), acc(accumulators), width(columns) {
    std::fill(acc, acc + width, loops.identity);
  }
  HWY_ATTR void add(const In* p) {
    row[waiting++] = p;
    if (waiting < kRows) return;
    loops.add_rows[3](row, width, acc);
    waiting = 0;
  }
  HWY_ATTR void finish() {
    const In** at = row;
    if (waiting & 4) loops.add_rows[2](at, width, acc), at += 4;
    if (waiting & 2) loops.add_rows[1](at, width, acc), at += 2;
    if (waiting & 1) loops.add_rows[0](at, width, acc);
    waiting = 0;
  }
};

template <class Out, class A>
HWY_ATTR Out converted(A value) {
  if constexpr (std::is_same_v<Out, bool>)
    return value != 0;
  else if constexpr (std::is_same_v<Out, _Float16>)
    return static_cast<_Float16>(static_cast<float>(value));
  else
    return static_cast<Out>(value);
}

// Of numbers that are given by their logarithms.
struct LogAdd {
  template <class T>
  static HWY_ATTR T of(T x, T y) {
    const double a = static_cast<double>(x), b = static_cast<double>(y), high = std::max(a, b), low = std::min(a, b);
    return static_cast<T>(std::isinf(high) ? high : high + std::log1p(std::exp(low - high)));
  }
};

// Where results go.
struct Sink {
  PandoReduceOp op;
  PandoReduceType type;
  char* out;
  const float* scale;
  bool update;

  // Results have the type of the elements, or both are floating-point; signed sums are computed as unsigned ones of their size.
  template <class A>
  HWY_ATTR void write(const A* values, std::size_t n) {
    if constexpr (!std::is_same_v<A, double>)
      write_as<std::conditional_t<std::is_same_v<A, std::uint8_t>, bool, A>>(values, n);
    else if (type == PandoReduceType::f16)
      write_as<_Float16>(values, n);
    else
      write_as<float>(values, n);
  }

 private:
  template <class Out, class A>
  HWY_ATTR void write_as(const A* values, std::size_t n) {
    Out* to = reinterpret_cast<Out*>(out);
    out += n * sizeof(Out);
    if (scale == nullptr && !update) {
      for (std::size_t i = 0; i < n; ++i) to[i] = converted<Out>(values[i]);
      return;
    }
    if constexpr (is_real<Out>) {
      const bool logs = op == PandoReduceOp::log_add;
      const double factor = scale == nullptr ? (logs ? 0 : 1) : double{*scale};
      for (std::size_t i = 0; i < n; ++i) {
        const double value = logs ? static_cast<double>(values[i]) + factor : static_cast<double>(values[i]) * factor;
        to[i] = converted<Out>(update ? combined<double>(static_cast<double>(to[i]), value) : value);
      }
    } else {
      for (std::size_t i = 0; i < n; ++i) to[i] = converted<Out>(combined<A>(static_cast<A>(to[i]), values[i]));
    }
  }

  template <class A>
  HWY_ATTR A combined(A a, A b) const {
    switch (op) {
#define PANDO_ROW(NAME, name, types, scale, identity, flops, how, with, results) \
  case PandoReduceOp::name: return results::of(a, b);
      PANDO_REDUCE_ROWS(PANDO_ROW)
#undef PANDO_ROW
    }
    return a;
  }
};

// The shape of a block. A region has, for index k of its second dimension, runs of `length` elements at k * length, at (steps + k) * length
// and so on; if there is but one k, all of it is one run.
// Rows of a run begin `row` elements apart.
struct Shape {
  std::size_t regions, steps, middle, inner, row;
  Shape(const PandoReduceBlock& b, std::size_t row_or_0)
      : regions(b.regions), steps(b.outputs / b.inner), middle(b.middle), inner(b.inner), row(row_or_0 > 0 ? row_or_0 : inner) {}
  std::size_t length(const PandoReduceRegion& r) const { return steps == 1 ? r.size : middle * inner; }
};

// One value of each run of inner == 1.
template <class In>
HWY_ATTR Sum<In> of_runs(const Loops<In>& loops, const PandoReduceRegion* regions, const Shape& shape, std::size_t k) {
  Sum<In> value = loops.identity;
  for (std::size_t g = 0; g < shape.regions; ++g) {
    const std::size_t length = shape.length(regions[g]), stride = shape.steps * length;
    const In* p = static_cast<const In*>(regions[g].data) + k * length;
    for (std::size_t left = regions[g].size; left > 0; left -= stride, p += stride) {
      Sum<In> of_run;
      loops.of_rows(p, 1, length, &of_run);
      value = loops.of(value, of_run);
    }
  }
  return value;
}

// acc[0 .. width) of columns [first, first + width) of the rows of `inner` elements.
template <class In>
HWY_ATTR void of_columns(const Loops<In>& loops, const PandoReduceRegion* regions, const Shape& shape, std::size_t k, std::size_t first,
                         std::size_t width, Sum<In>* acc) {
  Rows<In> rows(loops, acc, width);
  for (std::size_t g = 0; g < shape.regions; ++g) {
    const std::size_t length = shape.length(regions[g]), stride = shape.steps * length;
    const In* p = static_cast<const In*>(regions[g].data) + k * length;
    for (std::size_t left = regions[g].size; left > 0; left -= stride, p += stride)
      for (std::size_t at = 0; at < length; at += shape.row) rows.add(p + at + first);
  }
  rows.finish();
}

// The same for narrow rows, all columns: `together` rows make a wide one.
template <class In>
HWY_ATTR void of_narrow_columns(const Loops<In>& loops, const PandoReduceRegion* regions, const Shape& shape, std::size_t k,
                                std::size_t together, Sum<In>* acc) {
  const std::size_t inner = shape.inner, wide = together * inner;
  Rows<In> rows(loops, acc, wide);
  for (std::size_t g = 0; g < shape.regions; ++g) {
    const std::size_t length = shape.length(regions[g]), stride = shape.steps * length;
    const In* p = static_cast<const In*>(regions[g].data) + k * length;
    for (std::size_t left = regions[g].size; left > 0; left -= stride, p += stride) {
      std::size_t at = 0;
      for (; at + wide <= length; at += wide) rows.add(p + at);
      const In* rest = p + at;
      if (at < length) loops.add_rows[0](&rest, length - at, acc);
    }
  }
  rows.finish();
  for (std::size_t rows_left = together; rows_left > 1;) {
    const std::size_t half = rows_left / 2;
    rows_left -= half;
    loops.add_sums(acc + rows_left * inner, half * inner, acc);
  }
}

// How many rows of a run of `length` elements to take as one: as many as there are accumulators, to a multiple of the loops' step if that
// can be, and so that a whole set of these remains.
inline std::size_t rows_together(std::size_t inner, std::size_t length) {
  const std::size_t most = std::min(kColumns / inner, length / (kRows * inner));
  for (std::size_t n = most; n > most / 2; --n)
    if (n * inner % PANDO_COLUMN_STEP == 0) return n;
  return std::max<std::size_t>(1, most);
}

template <class In>
HWY_ATTR void reduce_block(const void* loops_of_op, const PandoReduceRegion* regions, const PandoReduceBlock& block, std::size_t row,
                           Sink& sink) {
  const auto& loops = *static_cast<const Loops<In>*>(loops_of_op);
  alignas(64) Sum<In> values[kColumns];
  const Shape shape(block, row);
  const std::size_t inner = shape.inner;
  if (inner == 1 && row == 0) {
    const bool plain = shape.steps > 1 && shape.regions == 1 && regions[0].size == shape.steps * shape.middle;
    for (std::size_t k = 0; k < shape.steps;) {
      const std::size_t n = std::min(shape.steps - k, kColumns);
      const In* p = shape.regions == 0 ? nullptr : static_cast<const In*>(regions[0].data) + k * shape.middle;
      if (plain) loops.of_rows(p, n, shape.middle, values);
      for (std::size_t i = plain ? n : 0; i < n; ++i) values[i] = of_runs(loops, regions, shape, k + i);
      sink.write(values, n);
      k += n;
    }
    return;
  }
  const std::size_t together = shape.regions == 0 || row > 0 ? 1 : rows_together(inner, shape.length(regions[0]));
  for (std::size_t k = 0; k < shape.steps; ++k) {
    if (together > 1) {
      of_narrow_columns(loops, regions, shape, k, together, values);
      sink.write(values, inner);
      continue;
    }
    for (std::size_t first = 0; first < inner; first += kColumns) {
      const std::size_t width = std::min(inner - first, kColumns);
      of_columns(loops, regions, shape, k, first, width, values);
      sink.write(values, width);
    }
  }
}

// Sum of exp(x - high) of a run.
template <class In>
HWY_ATTR double exponentials_of_run(const In* p, std::size_t n, float high) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto shift = hn::Set(d, high);
  double total = 0;
  while (n >= lanes) {
    const std::size_t steps = std::min(n / lanes, kSteps);
    auto a = hn::Zero(d);
    for (std::size_t s = 0; s < steps; ++s, p += lanes) a = hn::Add(a, hn::Exp(d, hn::Sub(load(d, p), shift)));
    n -= steps * lanes;
    total += double{across<Add>(d, a)};
  }
  for (std::size_t i = 0; i < n; ++i) total += double{std::exp(static_cast<float>(p[i]) - high)};
  return total;
}

// sums[j] += exp(row[j] - high[j])
template <class In>
HWY_ATTR void add_exponentials(const In* row, const float* high, std::size_t n, double* sums) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t j = 0;
  alignas(64) float powers[hn::MaxLanes(d)];
  for (; j + lanes <= n; j += lanes) {
    hn::Store(hn::Exp(d, hn::Sub(load(d, row + j), hn::LoadU(d, high + j))), d, powers);
    for (std::size_t l = 0; l < lanes; ++l) sums[j + l] += double{powers[l]};
  }
  for (; j < n; ++j) sums[j] += double{std::exp(static_cast<float>(row[j]) - high[j])};
}

// log of the sum of exponentials, by the greatest element and then the rest relative to it.
template <class In>
HWY_ATTR void log_add_block(const void* loops_of_max, const PandoReduceRegion* regions, const PandoReduceBlock& block, std::size_t row,
                            Sink& sink) {
  const auto& max = *static_cast<const Loops<In>*>(loops_of_max);
  alignas(64) double highest[kColumns], sums[kColumns];
  alignas(64) float shift[kColumns];
  const Shape shape(block, row);
  const std::size_t inner = shape.inner;
  for (std::size_t k = 0; k < shape.steps; ++k)
    for (std::size_t first = 0; first < inner; first += kColumns) {
      const std::size_t width = std::min(inner - first, kColumns);
      if (inner == 1)
        highest[0] = of_runs(max, regions, shape, k);
      else
        of_columns(max, regions, shape, k, first, width, highest);
      for (std::size_t j = 0; j < width; ++j) {
        sums[j] = 0;
        shift[j] = std::isfinite(highest[j]) ? static_cast<float>(highest[j]) : 0;
      }
      for (std::size_t g = 0; g < shape.regions; ++g) {
        const std::size_t length = shape.length(regions[g]), stride = shape.steps * length;
        const In* p = static_cast<const In*>(regions[g].data) + k * length;
        for (std::size_t left = regions[g].size; left > 0; left -= stride, p += stride) {
          if (inner == 1 && row == 0)
            sums[0] += exponentials_of_run(p, length, shift[0]);
          else
            for (std::size_t at = 0; at < length; at += shape.row) add_exponentials(p + at + first, shift, width, sums);
        }
      }
      for (std::size_t j = 0; j < width; ++j)
        if (std::isfinite(highest[j])) highest[j] += std::log(sums[j]);
      sink.write(highest, width);
    }
}

// A reduction of blocks, with the loops of its operation.
struct Function {
  void (*block)(const void* loops, const PandoReduceRegion*, const PandoReduceBlock&, std::size_t row, Sink&) = nullptr;
  const void* loops = nullptr;
};

template <class Op, class In>
Function with_loops() {
  return {&reduce_block<In>, &kLoopsOf<Op, In>};
}

template <class In>
Function logarithms() {
  if constexpr (is_real<In>)
    return {&log_add_block<In>, &kLoopsOf<Max, In>};
  else
    return {};
}

// `Sums` is the type that sums and products of `In` are computed in: unsigned, so that they wrap.
template <class In, class Sums>
Function function_of(PandoReduceOp op) {
  switch (op) {
#define PANDO_REDUCE_sums(with) with_loops<with, Sums>()
#define PANDO_REDUCE_values(with) with_loops<with, In>()
#define PANDO_REDUCE_logs(with) logarithms<In>()
#define PANDO_ROW(NAME, name, types, scale, identity, flops, how, with, ...) \
  case PandoReduceOp::name: return PANDO_REDUCE_##how(with);
    PANDO_REDUCE_ROWS(PANDO_ROW)
#undef PANDO_ROW
#undef PANDO_REDUCE_sums
#undef PANDO_REDUCE_values
#undef PANDO_REDUCE_logs
  }
  return {};
}

Function function_of(PandoReduceOp op, PandoReduceType in) {
  switch (in) {
    case PandoReduceType::f32: return function_of<float, float>(op);
    case PandoReduceType::f16: return function_of<_Float16, _Float16>(op);
    case PandoReduceType::i32: return function_of<std::int32_t, std::uint32_t>(op);
    case PandoReduceType::u32: return function_of<std::uint32_t, std::uint32_t>(op);
    case PandoReduceType::i64: return function_of<std::int64_t, std::uint64_t>(op);
    case PandoReduceType::u64: return function_of<std::uint64_t, std::uint64_t>(op);
    // A true that is not 1 is true all the same.
    case PandoReduceType::boolean:
      return op == PandoReduceOp::logical_and ? with_loops<Min, std::uint8_t>() : with_loops<Max, std::uint8_t>();
  }
  return {};
}

void reduce(PandoReduceOp op, PandoReduceType in_type, PandoReduceType out_type, const PandoReduceRegion* regions,
            const PandoReduceBlock* blocks, std::size_t n_blocks, void* out, const float* scale, bool update) {
  const Function function = function_of(op, in_type);
  Sink sink{op, out_type, static_cast<char*>(out), scale, update};
  for (std::size_t b = 0; b < n_blocks; ++b) {
    function.block(function.loops, regions, blocks[b], 0, sink);
    regions += blocks[b].regions;
  }
}

void reduce_columns(PandoReduceOp op, PandoReduceType in_type, PandoReduceType out_type, const void* in, std::size_t rows, std::size_t row,
                    std::size_t columns, void* out) {
  Sink sink{op, out_type, static_cast<char*>(out), nullptr, false};
  const PandoReduceRegion region = {in, rows == 0 ? 0 : (rows - 1) * row + columns};
  // All of the region is one run of the first and only step; how long the last row is does not matter.
  const auto n = static_cast<std::uint32_t>(columns);
  const Function function = function_of(op, in_type);
  function.block(function.loops, &region, {1, n, 1, n}, row, sink);
}

}  // namespace pando::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pando::kernels {
HWY_EXPORT(reduce);
HWY_EXPORT(reduce_columns);
}  // namespace pando::kernels

void pando_reduce(PandoReduceOp op, PandoReduceType in_type, PandoReduceType out_type, const PandoReduceRegion* regions,
                  const PandoReduceBlock* blocks, std::size_t n_blocks, void* out, const float* scale, bool update) {
  using namespace pando::kernels;
  HWY_DYNAMIC_DISPATCH(reduce)(op, in_type, out_type, regions, blocks, n_blocks, out, scale, update);
}

void pando_reduce_columns(PandoReduceOp op, PandoReduceType in_type, PandoReduceType out_type, const void* in, std::size_t rows,
                          std::size_t row, std::size_t columns, void* out) {
  using namespace pando::kernels;
  HWY_DYNAMIC_DISPATCH(reduce_columns)(op, in_type, out_type, in, rows, row, columns, out);
}
#endif
