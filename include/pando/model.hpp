// The model level from C++: networks as graphs of ops on tensors, their text, their gradients, and programs that run them.
//
//     pando::model::Builder b;
//     auto main = b.main();
//     auto x = b.op(main, "host_load", {}, {{"stream", in}})[0];
//     auto w = b.variable(pando::model::Data::of<float>({4, 2}, weights), "w");
//     b.op(main, "host_store", {b.op(main, "matmul", {x, w})[0]}, {{"stream", out}});
//     pando::model::Session session(b, {.device = "cpu"});
//     auto results = session.run({{in, data}});
//
// Ops, their operands and attributes are those of docs/level/ops.md. A name with an underscore in popxl ("add_") is the op in place. Errors
// are pando::ModelError (pando/model_error.hpp), and poplar's exceptions for what the graph level rejects: tile memory that does not
// suffice, options of the engine. Whatever was moved from is rejected, too. Link pando::model of the CMake package pando.
#pragma once

#include <pando/model_error.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#define PANDO_MODEL_EXPORT __attribute__((visibility("default")))

namespace pando::model {

using Shape = std::vector<std::int64_t>;

// The name of a C++ type's element type: "float32" for float.
template <class T>
constexpr std::string_view element_name() {
  static_assert(std::is_arithmetic_v<T>, "an arithmetic type");
  constexpr std::size_t size = sizeof(T);
  if constexpr (std::is_same_v<T, bool>)
    return "bool";
  else if constexpr (std::is_floating_point_v<T>)
    return size == 4 ? "float32" : "float64";
  else if constexpr (std::is_signed_v<T>)
    return size == 1 ? "int8" : size == 2 ? "int16" : size == 4 ? "int32" : "int64";
  else
    return size == 1 ? "uint8" : size == 2 ? "uint16" : size == 4 ? "uint32" : "uint64";
}

// An element type ("float32", "float16", "int32", "bool", "float8_143" ...) and a shape.
struct Type {
  std::string element;
  Shape shape;
};

// A tensor of the host: elements one behind the other, the last dimension's first.
struct Data {
  Type type;
  std::vector<std::byte> bytes;

  template <class T>
  static Data of(Shape shape, const std::vector<T>& values) {
    Data d{{std::string(element_name<T>()), std::move(shape)}, std::vector<std::byte>(values.size() * sizeof(T))};
    std::size_t i = 0;
    for (const T value : values) std::memcpy(d.bytes.data() + sizeof(T) * i++, &value, sizeof(T));
    return d;
  }
  // Throws std::invalid_argument where T is another element type.
  template <class T>
  std::vector<T> values() const {
    if (type.element != element_name<T>()) throw std::invalid_argument("the data are of the type " + type.element);
    std::vector<T> all(bytes.size() / sizeof(T));
    if constexpr (std::is_same_v<T, bool>) {
      for (std::size_t i = 0; i < all.size(); ++i) all[i] = bytes[i] != std::byte{0};
    } else if (!all.empty()) {
      std::memcpy(all.data(), bytes.data(), bytes.size());
    }
    return all;
  }
};

// Numbers of things of one builder. Which builder that is they know, and others reject them; 0: the number alone counts, as in modules of
// texts.
struct Graph {
  std::uint32_t number = 0, builder = 0;
};
struct Tensor {
  std::uint32_t number = 0, builder = 0;
};
struct Stream {
  std::uint32_t number = 0, builder = 0;
  friend bool operator<(Stream a, Stream b) { return a.number < b.number; }
};

// An element type is given by its name.
using Attribute =
    std::variant<bool, std::int64_t, double, std::string, std::vector<std::int64_t>, std::vector<double>, std::vector<std::string>, Stream>;
using Attributes = std::map<std::string, Attribute>;

// A gradient graph. What it takes and gives, in order: gradients of the forward graph's outputs, its inputs, its outputs; gradients of its
// inputs.
struct Gradient {
  enum class Kind { gradient_of_output, input, output, gradient_of_input };
  struct Connection {
    Kind kind;
    std::size_t index;  // among the forward graph's inputs or outputs, whose number may have grown
  };
  Graph graph;
  std::vector<Connection> takes, gives;
};

struct Violation {
  std::string rule, where, message;
};

class Session;

// A module that stands by itself: what a builder has made so far, or what a text says.
class PANDO_MODEL_EXPORT Module {
 public:
  // Throws ModelError with line and column, for text that does not parse and for a module that breaks a rule: popart, and the rule's id.
  static Module parse(std::string_view text);
  Module(const Module& other);
  Module(Module&&) noexcept;
  ~Module();

  // The text parses to the same module.
  std::string text() const;
  // All violations of the rules; empty: the module is valid.
  std::vector<Violation> verify() const;

  // Transforms. `expand`: ops become those that their rows name; `prune`: what reaches no output, variable or effect goes;
  // `complete_places`: every value has a device; `decompose_sums`: sums of several tensors become additions; `order_for_memory`: an order
  // that keeps little alive. Rejects (popart) a module that is not valid.
  Module& expand();
  Module& prune();
  Module& complete_places();
  Module& decompose_sums();
  Module& order_for_memory();
  // When the code of each graph must be in tile memory, as text.
  std::string code_liveness() const;

 private:
  friend class Builder;
  friend class Session;
  struct State;
  explicit Module(std::unique_ptr<State> state);
  template <class Transform>
  Module& transformed(Transform transform);
  std::unique_ptr<State> state_;
};

// Writes a module as users do: tensors have names, and contents that ops in place change.
class PANDO_MODEL_EXPORT Builder {
 public:
  // Rejects fewer replicas than one, and more than 65,536.
  explicit Builder(std::int64_t replicas = 1);
  Builder(Builder&&) noexcept;
  ~Builder();

  Graph main() const;
  // Names of graphs are not empty, and differ.
  Graph create_graph(const std::string& name);
  // Of any graph but main. `by_ref`: a call hands back what the input has become.
  Tensor input(Graph graph, const Type& type, std::string_view name, bool by_ref = false);
  void output(Graph graph, Tensor tensor);

  // State that lives from run to run, a tensor of the main graph.
  Tensor variable(const Data& data, std::string_view name);
  Tensor constant(Graph graph, const Data& data, std::string_view name = {});
  Stream stream_to_device(std::string_view name, const Type& type);
  Stream stream_to_host(std::string_view name, const Type& type);

  // The results of an op that is added to a graph. Throws ModelError for what does not fit.
  std::vector<Tensor> op(Graph graph, std::string_view name, const std::vector<Tensor>& operands, const Attributes& attributes = {},
                         const std::vector<Graph>& graphs = {}, bool in_place = false);
  Type type_of(Tensor tensor) const;
  std::string name_of(Tensor tensor) const;

  // The gradient of a graph, for all of its inputs. The forward graph may grow outputs, which later calls give too: differentiate first.
  Gradient autodiff(Graph graph);

  // Ops that are added from now on: in this order; on that device (0 to 65,535); on tiles that only transfer. Rejects the end of what did
  // not begin.
  void begin_sequence();
  void end_sequence();
  void set_device(std::int32_t device);
  void set_io_tiles(bool on);

  // A copy of what has been built.
  Module module() const;

 private:
  friend class Session;
  struct State;
  std::shared_ptr<State> state_;
};

struct Options {
  // "cpu", "ipu_model" or "ipu_hw".
  std::string device = "ipu_model";
  // Not 0: IPUs of that many tiles.
  std::int64_t tiles_per_ipu = 0;
  std::int64_t num_io_tiles = 0;
  std::int64_t num_host_transfers = 1;
  // Options of the engine, as Poplar's.
  std::map<std::string, std::string> engine;
};

// A compiled program on its device. A builder that it was made of may end, or grow: the session is of what there was.
class PANDO_MODEL_EXPORT Session {
 public:
  explicit Session(Builder& builder, const Options& options = {});
  explicit Session(const Module& module, const Options& options = {});
  Session(Session&&) noexcept;
  ~Session();

  // Runs the main graph once. Data of each stream: (num_host_transfers, replicas, the stream's shape) without leading ones. What was
  // stored.
  std::map<Stream, Data> run(const std::map<Stream, Data>& inputs = {});
  // A variable's data, by name; the device's, if it is ahead.
  Data variable(std::string_view name);
  void set_variable(std::string_view name, const Data& data);

  std::int64_t ipus() const;
  std::string report();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace pando::model
