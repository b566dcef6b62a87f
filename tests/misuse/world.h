// A random call of a public function: what it may be given, good and bad.
#pragma once

#include <poplar/Engine.hpp>
#include <poplar/Graph.hpp>
#include <poplar/IPUModel.hpp>
#include <poplar/Program.hpp>
#include <poplin/Convolution.hpp>
#include <poplin/Epilogue.hpp>
#include <popnn/Pooling.hpp>
#include <popnn/experimental/ROIAlign.hpp>
#include <popops/Expr.hpp>
#include <popops/Reduce.hpp>
#include <popops/TopK.hpp>
#include <popsparse/FullyConnectedParams.hpp>
#include <popsparse/MatMulParams.hpp>
#include <popsparse/experimental/BlockSparseMatMul.hpp>
#include <poputil/Util.hpp>
#include <pva/pva.hpp>

#include <functional>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace misuse {

struct ModelWorld;
struct SolverWorld;

// What one call works on. Graphs, tensors and handles of `other` are foreign to `own`.
struct World {
  explicit World(unsigned seed);

  std::minstd_rand dice;
  poplar::Device device;
  poplar::Graph own, other;
  poplar::program::Sequence program, other_program;
  std::vector<poplar::Tensor> good, bad, foreign;
  poplar::ComputeSet set, other_set;
  bool gave_graph = false, gave_foreign = false, gave_buffer = false;
  // Of the model level; made where a call takes something of it.
  std::shared_ptr<ModelWorld> model_world;
  ModelWorld& model();
  // The same of popsolver.
  std::shared_ptr<SolverWorld> solver_world;
  SolverWorld& solver();

  unsigned roll(unsigned n) { return static_cast<unsigned>(dice() % n); }
};

struct Row {
  std::string name;
  std::function<void(World&)> call;
};

struct Fresh {};
// What has no maker of its own is default-constructed.
template <class T, class = void>
struct Maker : Fresh {
  static_assert(std::is_default_constructible<T>::value,
                "a parameter of a public function has a new type: add a Maker for it in tests/misuse/world.h");
  static T make(World&) { return T(); }
};

template <class T>
struct Maker<T, std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>>> {
  static T make(World& w) {
    static const unsigned long long values[] = {
        0, 1, 2, 3, 4, 5, 7, 16, 1000, 0x7fffffff, 0xffffffff, 1ull << 32, 1ull << 63, ~0ull, (1ull << 63) + 2};
    // How much there is behind a pointer that is not null nobody can check.
    return static_cast<T>(w.roll(8) ? values[w.roll(6)] : values[w.roll(w.gave_buffer ? 9 : 15)]);
  }
};
template <>
struct Maker<bool> {
  static bool make(World& w) { return w.roll(2); }
};
template <class T>
struct Maker<T, std::enable_if_t<std::is_floating_point_v<T>>> {
  static T make(World& w) {
    const double values[] = {
        0.5, 1, 2, 0, -1, 1e30, -1e300, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()};
    return static_cast<T>(w.roll(6) ? values[w.roll(3)] : values[w.roll(9)]);
  }
};
template <class T>
struct Maker<T, std::enable_if_t<std::is_enum_v<T>>> {
  // All of the API have a type: numbers that they do not name are values, too.
  static T make(World& w) { return static_cast<T>(w.roll(3)); }
};

std::string text(World& w);
template <>
struct Maker<std::string> {
  static std::string make(World& w) { return text(w); }
};
template <>
struct Maker<poplar::Type> {
  static poplar::Type make(World& w) {
    const poplar::Type types[] = {poplar::FLOAT, poplar::HALF,    poplar::INT,      poplar::UNSIGNED_INT, poplar::BOOL,
                                  poplar::CHAR,  poplar::QUARTER, poplar::LONGLONG, poplar::Type()};
    return w.roll(2) ? types[0] : types[w.roll(9)];
  }
};
template <>
struct Maker<poplar::Tensor> {
  static poplar::Tensor make(World& w);
};
template <>
struct Maker<poplar::program::Program> {
  static poplar::program::Program make(World& w);
};
template <>
struct Maker<poplar::program::Sequence> {
  static poplar::program::Sequence make(World& w) { return poplar::program::Sequence(Maker<poplar::program::Program>::make(w)); }
};
template <>
struct Maker<poplar::ComputeSet> {
  static poplar::ComputeSet make(World& w);
};
template <>
struct Maker<poplar::Target> {
  static poplar::Target make(World& w) { return w.own.getTarget(); }
};
template <>
struct Maker<poplar::OptionFlags> {
  static poplar::OptionFlags make(World& w) { return w.roll(6) ? poplar::OptionFlags() : poplar::OptionFlags{{text(w), text(w)}}; }
};
template <>
struct Maker<poplar::Interval> {
  static poplar::Interval make(World& w);
};
template <>
struct Maker<poplar::DataStream> {
  static poplar::DataStream make(World& w);
};
template <>
struct Maker<poplar::RemoteBuffer> {
  static poplar::RemoteBuffer make(World& w);
};
template <>
struct Maker<poplar::Executable> {
  static poplar::Executable make(World& w);
};
template <>
struct Maker<poplar::Engine> {
  static poplar::Engine make(World& w);
};
template <>
struct Maker<poplar::VertexRef> {
  static poplar::VertexRef make(World& w);
};
template <>
struct Maker<poplar::FieldRef> {
  static poplar::FieldRef make(World& w) { return Maker<poplar::VertexRef>::make(w)[text(w)]; }
};
template <>
struct Maker<poplar::program::Copy> {
  static poplar::program::Copy make(World& w) { return {w.good[0], w.good[0]}; }
};
// An expression of thousands of levels. Each level copies those below: one, for all calls.
const popops::expr::Any& deep_sum();
template <>
struct Maker<popops::expr::Any> {
  static popops::expr::Any make(World& w);
};
template <>
struct Maker<poplin::ConvParams> {
  static poplin::ConvParams make(World& w);
};
template <>
struct Maker<poplin::Epilogue> {
  static poplin::Epilogue make(World& w);
};
template <>
struct Maker<popsparse::dynamic::MatMulParams> {
  static popsparse::dynamic::MatMulParams make(World& w);
};
template <>
struct Maker<popsparse::dynamic::FullyConnectedParams> {
  static popsparse::dynamic::FullyConnectedParams make(World& w);
};
template <>
struct Maker<popsparse::static_::MatMulParams> {
  static popsparse::static_::MatMulParams make(World& w);
};
template <>
struct Maker<popsparse::experimental::BSMatMulParams> {
  static popsparse::experimental::BSMatMulParams make(World& w);
};
template <>
struct Maker<popnn::pooling::PoolParams> {
  static popnn::pooling::PoolParams make(World& w);
};
template <>
struct Maker<popnn::experimental::roiAlignParams> {
  static popnn::experimental::roiAlignParams make(World& w) {
    return {Maker<unsigned long>::make(w), Maker<unsigned long>::make(w), Maker<unsigned long>::make(w), Maker<bool>::make(w),
            Maker<float>::make(w)};
  }
};
template <>
struct Maker<popops::TopKParams> {
  static popops::TopKParams make(World& w) { return {Maker<unsigned>::make(w), Maker<bool>::make(w), Maker<popops::SortOrder>::make(w)}; }
};
template <>
struct Maker<popops::SingleReduceOp> {
  static popops::SingleReduceOp make(World& w) {
    return {Maker<poplar::Tensor>::make(w), {Maker<std::size_t>::make(w)}, popops::ReduceParams(popops::Operation::ADD), poplar::FLOAT};
  }
};
template <>
struct Maker<poplar::replication_factor> {
  static poplar::replication_factor make(World& w) { return poplar::replication_factor(Maker<unsigned>::make(w)); }
};
template <>
struct Maker<poplar::program::Switch> {
  static poplar::program::Switch make(World& w) { return poplar::program::Switch(w.own.addVariable(poplar::INT, {})); }
};
template <>
struct Maker<poplar::Graph::ConnectionDesc> {
  static poplar::Graph::ConnectionDesc make(World& w) { return {text(w), Maker<poplar::Tensor>::make(w)}; }
};
template <class A, class B>
struct Maker<std::pair<A, B>> {
  static std::pair<A, B> make(World& w) { return {Maker<A>::make(w), Maker<B>::make(w)}; }
};
template <class T>
struct Maker<std::vector<T>> {
  static std::vector<T> make(World& w) {
    std::vector<T> list;
    for (unsigned n = w.roll(4); n > 0; --n) list.push_back(Maker<T>::make(w));
    return list;
  }
};
template <class T>
struct Maker<std::set<T>> {
  static std::set<T> make(World&) { return {}; }
};

char* buffer();  // a mebibyte

// Keeps what a parameter refers to. `get` may be called once.
template <class A, class = void>
struct Argument {
  using T = std::remove_cv_t<std::remove_reference_t<A>>;
  explicit Argument(World& w) {
    if constexpr (std::is_base_of_v<Fresh, Maker<T>>)
      value = std::shared_ptr<T>(new T());
    else
      value = std::shared_ptr<T>(new T(Maker<T>::make(w)));
  }
  A get() {
    if constexpr (std::is_lvalue_reference_v<A>)
      return *value;
    else
      return std::move(*value);
  }
  std::shared_ptr<T> value;
};
template <class G>
struct GraphArgument {
  explicit GraphArgument(World& w) : graph(w.own) { w.gave_graph = true; }
  G get() { return graph; }
  poplar::Graph& graph;
};
template <>
struct Argument<poplar::Graph&> : GraphArgument<poplar::Graph&> {
  using GraphArgument::GraphArgument;
};
template <>
struct Argument<const poplar::Graph&> : GraphArgument<const poplar::Graph&> {
  using GraphArgument::GraphArgument;
};
// A program that is added to is mostly the one that is run afterwards.
template <>
struct Argument<poplar::program::Sequence&> {
  explicit Argument(World& w) : program(w.program) {}
  poplar::program::Sequence& get() { return program; }
  poplar::program::Sequence& program;
};
// Where it points is settled last: arguments move.
template <class T>
struct Argument<T*> {
  using Object = std::remove_cv_t<T>;
  explicit Argument(World& w) : is_null(w.roll(4) == 0), storage(text(w)) {
    storage.resize(std::max<std::size_t>(storage.size(), 8192));  // a text, and bytes behind it
    w.gave_buffer = w.gave_buffer || std::is_void_v<T> || std::is_arithmetic_v<T>;
    if constexpr (!std::is_function_v<T> && !std::is_void_v<T> && !std::is_arithmetic_v<T> && std::is_default_constructible_v<Object>)
      object = Argument<Object&>(w).value;
  }
  T* get() {
    if (is_null) return nullptr;
    if constexpr (std::is_function_v<T>)
      return nullptr;
    else if constexpr (std::is_same_v<Object, char>)
      return storage.data();
    else if constexpr (std::is_void_v<T> || std::is_arithmetic_v<T>)
      return reinterpret_cast<T*>(buffer());
    else
      return static_cast<T*>(object.get());
  }
  bool is_null;
  std::string storage;
  std::shared_ptr<void> object;
};
template <>
struct Argument<poplar::StringRef> {
  explicit Argument(World& w) : storage(text(w)) {}
  poplar::StringRef get() { return storage; }
  std::string storage;
};
template <class T>
struct Argument<poplar::ArrayRef<T>> {
  explicit Argument(World& w) : list(Maker<std::vector<T>>::make(w)) {}
  poplar::ArrayRef<T> get() { return list; }
  std::vector<T> list;
};
template <class T>
struct Argument<poplar::ArrayRef<T*>> {
  explicit Argument(World& w) : item(Maker<T>::make(w)), list{nullptr}, is_null(w.roll(2)) {}
  poplar::ArrayRef<T*> get() {
    if (!is_null) list[0] = &item;
    return list;
  }
  T item;
  std::vector<T*> list;
  bool is_null;
};
template <>
struct Argument<poplar::ArrayRef<poplar::StringRef>> {
  explicit Argument(World&) {}
  poplar::ArrayRef<poplar::StringRef> get() { return list; }
  std::vector<poplar::StringRef> list{"a"};
};
template <class S>
struct StreamArgument {
  explicit StreamArgument(World& w) : stream(text(w)) {}
  S& get() { return stream; }
  std::stringstream stream;
};
template <>
struct Argument<std::ostream&> : StreamArgument<std::ostream> {
  using StreamArgument::StreamArgument;
};
template <>
struct Argument<std::istream&> : StreamArgument<std::istream> {
  using StreamArgument::StreamArgument;
};
template <>
struct Argument<std::stringstream&> : StreamArgument<std::stringstream> {
  using StreamArgument::StreamArgument;
};
template <>
struct Argument<const popops::expr::Expr&> {
  explicit Argument(World& w) : value(Maker<popops::expr::Any>::make(w)) {}
  const popops::expr::Expr& get() { return value; }
  popops::expr::Any value;
};
template <>
struct Argument<const poplar::DebugContext&> {
  explicit Argument(World&) {}
  const poplar::DebugContext& get() { return value; }
  poplar::DebugContext value{"misuse"};
};
template <>
struct Argument<const poplar::DebugInfo&> {
  explicit Argument(World&) : value(std::make_shared<poplar::DebugInfo>(poplar::DebugContext("misuse"), "misuse")) {}
  const poplar::DebugInfo& get() { return *value; }
  std::shared_ptr<poplar::DebugInfo> value;
};
template <>
struct Argument<poplar::Graph&&> {
  explicit Argument(World& w) : graph(w.own) {}
  poplar::Graph&& get() { return std::move(graph); }
  poplar::Graph& graph;
};

template <class R, class... A>
void add_function(std::vector<Row>& rows, const char* name, R (*function)(A...)) {
  rows.push_back({name, [function](World& w) {
                    std::tuple<Argument<A>...> arguments{Argument<A>(w)...};
                    std::apply([&](auto&... a) { static_cast<void>(function(a.get()...)); }, arguments);
                  }});
}
template <class C, class Method>
struct CallOf;
template <class C, class R, class D, class... A>
struct CallOf<C, R (D::*)(A...)> {
  template <class Method>
  static void call(World& w, Method method) {
    Argument<C&> self(w);
    std::tuple<Argument<A>...> arguments{Argument<A>(w)...};
    std::apply([&](auto&... a) { static_cast<void>((self.get().*method)(a.get()...)); }, arguments);
  }
};
template <class C, class R, class D, class... A>
struct CallOf<C, R (D::*)(A...) const> : CallOf<C, R (D::*)(A...)> {};
template <class C, class Method>
void add_method(std::vector<Row>& rows, const char* name, Method method) {
  rows.push_back({name, [method](World& w) { CallOf<C, Method>::call(w, method); }});
}
template <class C, class... A>
void add_constructor(std::vector<Row>& rows, const char* name) {
  rows.push_back({name, [](World& w) {
                    std::tuple<Argument<A>...> arguments{Argument<A>(w)...};
                    std::apply([&](auto&... a) { static_cast<void>(C(a.get()...)); }, arguments);
                  }});
}

// What is wrong with the model level and the solver of a world after a call. Empty: nothing, or it has none.
std::string worlds_wrong(World& w);

}  // namespace misuse

#include "misuse/world_companions.h"
#include "misuse/world_functions.h"
#include "misuse/world_model.h"
