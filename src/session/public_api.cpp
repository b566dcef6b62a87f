// pando/model.hpp on ir, transform and session.
#include <pando/model.hpp>

#include "ir/builder.h"
#include "ir/error.h"
#include "ir/op_table.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "session/session.h"
#include "transform/autodiff.h"
#include "transform/code_liveness.h"
#include "transform/complete_places.h"
#include "transform/expand.h"
#include "transform/prune.h"
#include "transform/schedule.h"

#include <algorithm>
#include <optional>

namespace pando::model {

using ir::ErrorClass;

namespace {

ir::DType element(std::string_view name) {
  const auto t = ir::dtype_named(name);
  if (!t) ir::refuse(ErrorClass::type, "element-type", "there is no element type '{}'", name);
  return *t;
}

ir::Type type(const Type& t) { return ir::tensor_type(element(t.element), t.shape); }

ir::HostTensor host_tensor(const Data& d) {
  ir::HostTensor t(element(d.type.element), d.type.shape);
  if (t.size_bytes() != d.bytes.size()) {
    ir::refuse(ErrorClass::value, "data-size", "{} bytes of data for {} {}, which are {}", d.bytes.size(), d.type.element, ir::to_string(d.type.shape), t.size_bytes());
  }
  std::copy_n(d.bytes.data(), d.bytes.size(), t.writable());
  return t;
}

Data data(const ir::HostTensor& t) {
  return {{std::string(ir::name_of(t.dtype())), t.shape()}, std::vector<std::byte>(t.data(), t.data() + t.size_bytes())};
}

ir::AttributeValue attribute(const Attribute& a, bool is_element_type) {
  if (const Stream* s = std::get_if<Stream>(&a)) return ir::HostStreamId(s->number);
  if (const std::string* text = std::get_if<std::string>(&a); text && is_element_type) return element(*text);
  ir::AttributeValue out;
  std::visit([&](const auto& v) {
    if constexpr (!std::is_same_v<std::decay_t<decltype(v)>, Stream>) out = v;
  }, a);
  return out;
}

ir::Attributes attributes_of(const ir::OpRow& row, const Attributes& given) {
  ir::Attributes out;
  for (const auto& [name, value] : given) {
    const auto rule = std::find_if(row.attributes.begin(), row.attributes.end(), [&, n = std::string_view(name)](const ir::AttributeRule& r) { return r.name == n; });
    out.set(name, attribute(value, rule != row.attributes.end() && rule->kind == ir::AttributeKind::dtype));
  }
  return out;
}

const ir::OpRow& row_named(std::string_view name) {
  const auto kind = ir::find_op(name);
  if (!kind) ir::refuse(ErrorClass::value, "unknown-op", "there is no op '{}'", name);
  return ir::row_of(*kind);
}

}  // namespace

// --- Module ------------------------------------------------------------------------------------------------------------------------------

struct Module::State {
  ir::Module module;
};

Module::Module(std::unique_ptr<State> state) : state_(std::move(state)) {}
Module::Module(const Module& other) : state_(std::make_unique<State>(*other.state_)) {}
Module::Module(Module&&) noexcept = default;
Module::~Module() = default;

Module Module::parse(std::string_view text) { return Module(std::make_unique<State>(State{ir::parse(text)})); }
std::string Module::text() const { return ir::print(state_->module); }

std::vector<Violation> Module::verify() const {
  std::vector<Violation> all;
  for (const ir::Violation& v : ir::verify(state_->module)) all.push_back({v.rule, v.where, v.message});
  return all;
}

Module& Module::expand() {
  transform::expand(state_->module);
  return *this;
}

Module& Module::prune() {
  transform::prune(state_->module);
  return *this;
}

Module& Module::complete_places() {
  transform::complete_places(state_->module);
  return *this;
}

Module& Module::decompose_sums() {
  for (std::size_t g = 0; g < state_->module.graph_count(); ++g) transform::decompose_sum(state_->module, ir::GraphId(static_cast<ir::GraphId::rep>(g)));
  return *this;
}

Module& Module::order_for_memory() {
  transform::schedule(state_->module);
  return *this;
}

std::string Module::code_liveness() const { return transform::to_string(state_->module, transform::code_liveness(state_->module)); }

// --- Builder -----------------------------------------------------------------------------------------------------------------------------

struct Builder::State {
  ir::Builder builder;
};

Builder::Builder(std::int64_t replicas) : state_(new State{ir::Builder(replicas)}) {}
Builder::Builder(Builder&&) noexcept = default;
Builder::~Builder() = default;

Graph Builder::main() const { return {state_->builder.module().main_graph().value}; }
Graph Builder::create_graph(const std::string& name) { return {state_->builder.create_graph(name).value}; }

Tensor Builder::input(Graph graph, const Type& t, std::string_view name, bool by_ref) {
  return {state_->builder.add_input(ir::GraphId(graph.number), type(t), name, by_ref).value};
}

void Builder::output(Graph graph, Tensor tensor) { state_->builder.add_output(ir::GraphId(graph.number), ir::TensorId(tensor.number)); }

Tensor Builder::variable(const Data& d, std::string_view name) {
  ir::State s;
  s.type = state_->builder.module().type(type(d.type));
  s.grouping = ir::ReplicaGrouping(state_->builder.module().replicas());
  return {state_->builder.add_variable(s, host_tensor(d), name).value};
}

Tensor Builder::constant(Graph graph, const Data& d, std::string_view name) {
  return {state_->builder.add_constant(ir::GraphId(graph.number), host_tensor(d), name).value};
}

Stream Builder::stream_to_device(std::string_view name, const Type& t) {
  return {state_->builder.module().add_stream({std::string(name), ir::HostStream::Direction::host_to_device, element(t.element), t.shape}).value};
}

Stream Builder::stream_to_host(std::string_view name, const Type& t) {
  return {state_->builder.module().add_stream({std::string(name), ir::HostStream::Direction::device_to_host, element(t.element), t.shape}).value};
}

std::vector<Tensor> Builder::op(Graph graph, std::string_view name, const std::vector<Tensor>& operands, const Attributes& attributes,
                                const std::vector<Graph>& graphs, bool in_place) {
  std::vector<ir::TensorId> tensors;
  std::vector<ir::GraphId> carried;
  for (Tensor t : operands) tensors.push_back(ir::TensorId(t.number));
  for (Graph g : graphs) carried.push_back(ir::GraphId(g.number));
  std::vector<Tensor> results;
  for (ir::TensorId t : state_->builder.op(ir::GraphId(graph.number), name, tensors, attributes_of(row_named(name), attributes), carried, in_place)) results.push_back({t.value});
  return results;
}

Type Builder::type_of(Tensor tensor) const {
  const ir::Type& t = state_->builder.type_of(ir::TensorId(tensor.number));
  return {std::string(ir::name_of(t.dtype)), t.shape};
}

std::string Builder::name_of(Tensor tensor) const { return state_->builder.id_of(ir::TensorId(tensor.number)); }

Gradient Builder::autodiff(Graph graph) {
  ir::Builder& b = state_->builder;
  b.finish();
  const transform::GradientInfo info = transform::autodiff(b, ir::GraphId(graph.number));
  const ir::Graph& forward = b.module().graph(info.forward);
  const auto position = [](const std::vector<ir::ValueId>& list, ir::ValueId v) { return static_cast<std::size_t>(std::find(list.begin(), list.end(), v) - list.begin()); };
  Gradient out;
  out.graph = {info.gradient.value};
  for (const transform::Connection& c : info.inputs) {
    const std::size_t input = position(forward.inputs, c.value), output = position(forward.outputs, c.value);
    if (c.kind == transform::ConnectionKind::fwd_grad) {
      out.takes.push_back({Gradient::Kind::gradient_of_output, output});
    } else if (input < forward.inputs.size()) {
      out.takes.push_back({Gradient::Kind::input, input});
    } else {
      out.takes.push_back({Gradient::Kind::output, output});
    }
  }
  for (const transform::Connection& c : info.outputs) out.gives.push_back({Gradient::Kind::gradient_of_input, position(forward.inputs, c.value)});
  return out;
}

void Builder::begin_sequence() { state_->builder.push_sequence(ir::SequenceMode::ordered); }
void Builder::end_sequence() { state_->builder.pop_sequence(); }
void Builder::set_device(std::int32_t device) { state_->builder.set_device(device); }
void Builder::set_io_tiles(bool on) { state_->builder.set_io_tiles(on); }

Module Builder::module() const {
  state_->builder.finish();
  return Module(std::make_unique<Module::State>(Module::State{state_->builder.module()}));
}

// --- Session -----------------------------------------------------------------------------------------------------------------------------

struct Session::State {
  session::Session session;
  session::Options options;
};

namespace {

session::Options options_of(const Options& o) {
  session::Options out;
  out.device = o.device;
  out.tiles_per_ipu = o.tiles_per_ipu;
  out.num_io_tiles = o.num_io_tiles;
  out.num_host_transfers = o.num_host_transfers;
  out.engine = o.engine;
  return out;
}

ir::StateId state_named(const ir::Module& m, std::string_view name) {
  for (std::size_t i = 0; i < m.state_count(); ++i) {
    const ir::StateId id(static_cast<ir::StateId::rep>(i));
    if (m.state(id).name == name) return id;
  }
  ir::refuse(ErrorClass::key, "unknown-variable", "there is no variable '{}'", name);
}

void begin(session::Session& s) {
  s.attach();
  s.weights_from_host();
}

}  // namespace

Session::Session(Builder& builder, const Options& options) : state_(new State{session::Session(builder.state_->builder, options_of(options)), options_of(options)}) {
  begin(state_->session);
}
Session::Session(const Module& module, const Options& options)
    : state_(new State{session::Session(ir::Module(module.state_->module), options_of(options)), options_of(options)}) {
  begin(state_->session);
}
Session::Session(Session&&) noexcept = default;
Session::~Session() = default;

std::map<Stream, Data> Session::run(const std::map<Stream, Data>& inputs) {
  session::Session& s = state_->session;
  const std::int64_t slices = state_->options.num_host_transfers;
  std::vector<session::InputData> in;
  std::vector<session::OutputData> out;
  for (const auto& [stream, d] : inputs) {
    const ir::HostStreamId id(stream.number);
    const ir::Shape shape = s.full_shape(id);
    const ir::DType dtype = s.lowered().stream(id).dtype;
    if (d.type.shape != shape || element(d.type.element) != dtype || d.bytes.size() != static_cast<std::size_t>(ir::elements_of(shape)) * ir::size_of(dtype)) {
      ir::refuse(ErrorClass::value, "stream-data", "data of {} {} for stream '{}', which takes {} {}", d.type.element, ir::to_string(d.type.shape),
                 s.lowered().stream(id).name, ir::name_of(dtype), ir::to_string(shape));
    }
    in.push_back({id, d.bytes.data(), slices});
  }
  std::map<Stream, Data> results;
  for (ir::HostStreamId id : s.outputs()) {
    const ir::HostStream& stream = s.lowered().stream(id);
    Data& d = results[{id.value}];
    d.type = {std::string(ir::name_of(stream.dtype)), s.full_shape(id)};
    d.bytes.resize(static_cast<std::size_t>(ir::elements_of(d.type.shape)) * ir::size_of(stream.dtype));
    out.push_back({id, d.bytes.data(), slices});
  }
  s.run(in, out);
  return results;
}

Data Session::variable(std::string_view name) { return data(state_->session.data(state_named(state_->session.lowered(), name))); }
void Session::set_variable(std::string_view name, const Data& d) { state_->session.write(state_named(state_->session.lowered(), name), host_tensor(d)); }
std::int64_t Session::ipus() const { return state_->session.ipus(); }
std::string Session::report() { return state_->session.profile_summary(); }

}  // namespace pando::model
