#include "codelets.h"

#include "codelet/hand_made.h"

namespace pando::fuzz {
namespace {

template <class T> struct InOutObject {
  VectorEdge x, y;
  T k;
};
template <class T> struct UpdateObject {
  VectorEdge v;
  T k;
};
template <class T> struct FoldObject {
  VectorEdge rows;
  T* sum;
  VectorEdge w;
};
struct SpreadObject {
  VectorEdge x, rows;
};
template <class T> struct ShiftObject {
  VectorEdge rows;
  const T* s;
};
struct TestObject {
  VectorEdge x;
};
struct CountdownObject {
  std::uint32_t *n, *going, *done;
};

template <class T> T* data(const VectorEdge& v) { return static_cast<T*>(v.data); }
const VectorEdge& row(const VectorEdge& rows, std::uint64_t r) { return static_cast<const VectorEdge*>(rows.data)[r]; }
bool aligned(const void* p, std::uintptr_t to) { return reinterpret_cast<std::uintptr_t>(p) % to == 0; }
template <class T> T at(const VectorEdge& x, std::uint64_t i) { return x.size == 0 ? T(1) : data<const T>(x)[i % x.size]; }
template <class T> T step(T a, T b) { return static_cast<T>(a * T(37) + b * T(11) + T(5)); }

// Turns a function of one host object into a KernelRange.
template <class Object, bool (*compute)(const Object&)>
bool range(char* first, std::uint64_t stride, std::uint64_t count, std::uint64_t*) {
  bool all = true;
  for (std::uint64_t i = 0; i < count; ++i) all &= compute(*reinterpret_cast<const Object*>(first + i * stride));
  return all;
}

template <class T> bool mix(const InOutObject<T>& o) {
  const T bad = o.x.size == 0 || aligned(o.x.data, 16) ? T(0) : T(99);
  for (std::uint64_t i = 0; i < o.y.size; ++i) data<T>(o.y)[i] = step(at<T>(o.x, i), static_cast<T>(o.k + i + bad));
  return true;
}

template <class T> bool chain(const InOutObject<T>& o) {
  for (std::uint64_t i = 0; i < o.y.size; ++i) data<T>(o.y)[i] = step(at<T>(o.x, i), i == 0 ? o.k : data<T>(o.y)[i - 1]);
  return true;
}

template <class T> bool update(const UpdateObject<T>& o) {
  const T bad = o.v.size == 0 || aligned(o.v.data, sizeof(T)) ? T(0) : T(99);
  for (std::uint64_t i = 0; i < o.v.size; ++i)
    data<T>(o.v)[i] = step(data<T>(o.v)[i], static_cast<T>(bad + (i == 0 ? o.k : data<T>(o.v)[i - 1])));
  return true;
}

template <class T> bool fold(const FoldObject<T>& o) {
  T sum = static_cast<T>(o.rows.size);
  for (std::uint64_t r = 0; r < o.rows.size; ++r)
    for (std::uint64_t i = 0; i < row(o.rows, r).size; ++i)
      sum = step(sum, static_cast<T>(data<const T>(row(o.rows, r))[i] + at<T>(o.w, i)));
  *o.sum = sum;
  return sum % 2 == 0;
}

template <class T> bool spread(const SpreadObject& o) {
  for (std::uint64_t r = 0; r < o.rows.size; ++r)
    for (std::uint64_t i = 0; i < row(o.rows, r).size; ++i) data<T>(row(o.rows, r))[i] = step(at<T>(o.x, r + i), static_cast<T>(r));
  return true;
}

template <class T> bool shift(const ShiftObject<T>& o) {
  for (std::uint64_t r = 0; r < o.rows.size; ++r)
    for (std::uint64_t i = 0; i < row(o.rows, r).size; ++i)
      data<T>(row(o.rows, r))[i] = step(data<T>(row(o.rows, r))[i], static_cast<T>(*o.s + r));
  return true;
}

template <class T> bool multi(const InOutObject<T>& o) {
  for (unsigned worker = 0; worker < 6; ++worker)
    for (std::uint64_t i = worker; i < o.y.size; i += 6) data<T>(o.y)[i] = step(at<T>(o.x, i), static_cast<T>(o.k * worker));
  return true;
}

template <class T> bool test(const TestObject& o) {
  T sum = 0;
  for (std::uint64_t i = 0; i < o.x.size; ++i) sum = static_cast<T>(sum + at<T>(o.x, i));
  return (sum & 4) == 0;
}

bool countdown(const CountdownObject& o) {
  *o.going = *o.n != 0;
  *o.done = !*o.going;
  *o.n -= *o.going;
  return *o.going != 0;
}

Field field(const char* name, FieldKind kind, FieldShape shape, ElementType type) { return hand_made_field(name, kind, shape, type); }

template <class Object>
Codelet codelet(const std::string& name, std::vector<Field> fields, KernelRange kernel) {
  Codelet c = hand_made_codelet<Object>(name, std::move(fields), kernel);
  c.code_bytes = 64;
  c.stack_bytes = 32;
  return c;
}

template <class T>
void add_for(ElementType t, std::vector<Codelet>& out) {
  using enum FieldKind;
  constexpr auto kScalar = FieldShape::scalar, kVector = FieldShape::vector, kRows = FieldShape::vector_of_vectors;
  using IO = InOutObject<T>;
  const std::string suffix = "<" + std::string(name_of(t)) + ">";
  const std::vector<Field> in_out = {field("x", input, kVector, t), field("y", output, kVector, t), field("k", state, kScalar, t)};
  out.push_back(codelet<IO>("Mix" + suffix, in_out, range<IO, mix<T>>));
  out.back().fields[0].min_align = 16;
  out.push_back(codelet<IO>("Chain" + suffix, in_out, range<IO, chain<T>>));
  out.push_back(codelet<IO>("Multi" + suffix, in_out, range<IO, multi<T>>));
  out.back().kind = VertexKind::multi;
  out.back().fields[0].interleaved = true;
  out.push_back(codelet<UpdateObject<T>>("Update" + suffix, {field("v", inout, kVector, t), field("k", state, kScalar, t)},
                                         range<UpdateObject<T>, update<T>>));
  out.push_back(codelet<FoldObject<T>>("Fold" + suffix,
                                       {field("rows", input, kRows, t), field("sum", output, kScalar, t), field("w", state, kVector, t)},
                                       range<FoldObject<T>, fold<T>>));
  out.push_back(codelet<SpreadObject>("Spread" + suffix, {field("x", input, kVector, t), field("rows", output, FieldShape::vector_list, t)},
                                      range<SpreadObject, spread<T>>));
  out.back().fields[1].layout = FieldLayout::delta_n_elements;
  out.push_back(codelet<ShiftObject<T>>("Shift" + suffix, {field("rows", inout, kRows, t), field("s", input, kScalar, t)},
                                        range<ShiftObject<T>, shift<T>>));
  out.back().fields[0].interleaved = true;
  out.push_back(codelet<TestObject>("Test" + suffix, {field("x", input, kVector, t)}, range<TestObject, test<T>>));
}

}  // namespace

void add_codelets(Library& library) {
  std::vector<Codelet> all;
  add_for<std::uint8_t>(ElementType::unsigned_char, all);
  add_for<std::uint16_t>(ElementType::unsigned_short, all);
  add_for<std::uint32_t>(ElementType::unsigned_int, all);
  add_for<std::uint64_t>(ElementType::unsigned_long_long, all);
  const ElementType u = ElementType::unsigned_int;
  all.push_back(codelet<CountdownObject>(
      "Countdown",
      {field("n", FieldKind::inout, FieldShape::scalar, u), field("going", FieldKind::output, FieldShape::scalar, u),
       field("done", FieldKind::output, FieldShape::scalar, u)},
      range<CountdownObject, countdown>));
  library.add_builtin("fuzz", std::move(all));
}

}  // namespace pando::fuzz
