// pando/model.hpp on ir, transform and session.
#include <pando/model.hpp>

#include "ir/checks/read_module.h"
#include "ir/checks/verify.h"
#include "ir/construction/builder.h"
#include "ir/error.h"
#include "ir/op_table.h"
#include "ir/text/print.h"
#include "session/session.h"
#include "transform/code_liveness.h"
#include "transform/devices/complete_places.h"
#include "transform/expand.h"
#include "transform/gradient/autodiff.h"
#include "transform/prune.h"
#include "transform/schedule.h"

#include <algorithm>
#include <atomic>
#include <optional>

namespace pando::model {

using ir::ErrorClass;

namespace {

ir::DType element(std::string_view name) {
  const auto t = ir::dtype_named(name);
  if (!t) ir::reject(ErrorClass::type, "element-type", "there is no element type '{}'", name);
  return *t;
}

ir::Type type(const Type& t) {
  ir::Type out = ir::tensor_type(element(t.element), t.shape);
  ir::TypeTable().intern(out);  // rejects what no host holds
  return out;
}

ir::HostTensor host_tensor(const Data& d) {
  const ir::Type t_type = type(d.type);
  const std::size_t wanted = static_cast<std::size_t>(ir::elements_of(t_type.shape)) * ir::size_of(t_type.dtype);
  if (wanted != d.bytes.size()) {
    ir::reject(ErrorClass::value, "data-size", "{} bytes of data for {} {}, which are {}", d.bytes.size(), d.type.element,
               ir::to_string(d.type.shape), wanted);
  }
  ir::HostTensor t(t_type.dtype, t_type.shape);
  std::copy_n(d.bytes.data(), d.bytes.size(), t.writable());
  return t;
}

Data data(const ir::HostTensor& t) {
  return {{std::string(ir::name_of(t.dtype())), t.shape()}, std::vector<std::byte>(t.data(), t.data() + t.size_bytes())};
}

// What a builder's things know their builder by.
std::uint32_t next_identity() {
  static std::atomic<std::uint32_t> last = 0;
  return ++last;
}

// What a number stands for, if there is such a thing and it is of that builder; 0 fits all.
template <class Id, class Handle>
Id checked(Handle h, std::size_t count, std::uint32_t identity, std::string_view what) {
  if (h.builder != 0 && identity != 0 && h.builder != identity) {
    ir::reject(ErrorClass::value, "foreign", "{} {} belongs to another builder", what, h.number);
  }
  if (h.number >= count)
    ir::reject(ErrorClass::value, "no-such-thing", "there is no {} {}; there are {}, counted from 0", what, h.number, count);
  return Id(h.number);
}

ir::HostStreamId stream_of(const ir::Module& m, Stream s, std::uint32_t identity) {
  return checked<ir::HostStreamId>(s, m.stream_count(), identity, "stream");
}

// What stands behind a handle of the user's.
template <class Pointer>
auto& behind(const Pointer& state, std::string_view what) {
  if (!state) ir::reject(ErrorClass::value, "moved-from", "this {} was moved to another place", what);
  return *state;
}

ir::AttributeValue attribute(const Attribute& a, bool is_element_type) {
  if (const std::string* text = std::get_if<std::string>(&a); text && is_element_type) return element(*text);
  ir::AttributeValue out;
  std::visit(
      [&](const auto& v) {
        if constexpr (!std::is_same_v<std::decay_t<decltype(v)>, Stream>) out = v;
      },
      a);
  return out;
}

ir::Attributes attributes_of(const ir::Module& m, std::uint32_t identity, const ir::OpRow& row, const Attributes& given) {
  ir::Attributes out;
  for (const auto& [name, value] : given) {
    if (const Stream* s = std::get_if<Stream>(&value)) {
      out.set(name, stream_of(m, *s, identity));
      continue;
    }
    const auto rule = std::find_if(row.attributes.begin(), row.attributes.end(),
                                   [&, n = std::string_view(name)](const ir::AttributeRule& r) { return r.name == n; });
    out.set(name, attribute(value, rule != row.attributes.end() && rule->kind == ir::AttributeKind::dtype));
  }
  return out;
}

const ir::OpRow& row_named(std::string_view name) {
  const auto kind = ir::find_op(name);
  if (!kind) ir::reject(ErrorClass::value, "unknown-op", "there is no op '{}'", name);
  return ir::row_of(*kind);
}

}  // namespace

// --- Module ------------------------------------------------------------------------------------------------------------------------------

struct Module::State {
  ir::Module module;
  // Of the builder that it was copied from.
  std::uint32_t identity = 0;

  static State& of(const Module& m) { return behind(m.state_, "module"); }
};

Module::Module(std::unique_ptr<State> state) : state_(std::move(state)) {}
Module::Module(const Module& other) : state_(std::make_unique<State>(State::of(other))) {}
Module::Module(Module&&) noexcept = default;
Module::~Module() = default;

Module Module::parse(std::string_view text) { return Module(std::make_unique<State>(State{ir::read_module(text)})); }
std::string Module::text() const { return ir::print(State::of(*this).module); }

std::vector<Violation> Module::verify() const {
  std::vector<Violation> all;
  for (const ir::Violation& v : ir::verify(State::of(*this).module)) all.push_back({v.rule, v.where, v.message});
  return all;
}

// A transform may rely on the rules.
template <class Transform>
Module& Module::transformed(Transform transform) {
  ir::Module& m = State::of(*this).module;
  ir::check(m);
  transform(m);
  return *this;
}

Module& Module::expand() {
  return transformed([](ir::Module& m) { transform::expand(m); });
}

Module& Module::prune() {
  return transformed([](ir::Module& m) { transform::prune(m); });
}

Module& Module::complete_places() {
  return transformed([](ir::Module& m) { transform::complete_places(m); });
}

Module& Module::decompose_sums() {
  return transformed([](ir::Module& m) {
    for (std::size_t g = 0; g < m.graph_count(); ++g) transform::decompose_sum(m, ir::GraphId(static_cast<ir::GraphId::rep>(g)));
  });
}

Module& Module::order_for_memory() {
  return transformed([](ir::Module& m) { transform::schedule(m); });
}

std::string Module::code_liveness() const {
  const ir::Module& m = State::of(*this).module;
  ir::check(m);
  return transform::to_string(m, transform::code_liveness(m));
}

// --- Builder -----------------------------------------------------------------------------------------------------------------------------

struct Builder::State {
  ir::Builder builder;
  std::uint32_t identity = next_identity();

  static State& of(const Builder& b) { return behind(b.state_, "builder"); }
  ir::GraphId id(Graph g) const { return checked<ir::GraphId>(g, builder.module().graph_count(), identity, "graph"); }
  ir::TensorId id(Tensor t) const { return checked<ir::TensorId>(t, builder.tensor_count(), identity, "tensor"); }
  template <class Handle, class Id>
  Handle handle(Id id) const {
    return {id.value, identity};
  }
};

Builder::Builder(std::int64_t replicas) : state_(new State{ir::Builder(replicas)}) {}
Builder::Builder(Builder&&) noexcept = default;
Builder::~Builder() = default;

Graph Builder::main() const {
  const State& s = State::of(*this);
  return s.handle<Graph>(s.builder.module().main_graph());
}

Graph Builder::create_graph(const std::string& name) {
  State& s = State::of(*this);
  if (name.empty()) ir::reject(ErrorClass::value, "graph-name", "a graph needs a name");
  if (s.builder.module().graph_named(name)) ir::reject(ErrorClass::value, "graph-name", "there is a graph '{}' already", name);
  return s.handle<Graph>(s.builder.create_graph(name));
}

Tensor Builder::input(Graph graph, const Type& t, std::string_view name, bool by_ref) {
  State& s = State::of(*this);
  const ir::GraphId g = s.id(graph);
  if (g == s.builder.module().main_graph())
    ir::reject(ErrorClass::value, "input-of-main", "the main graph has no inputs but variables and streams");
  return s.handle<Tensor>(s.builder.add_input(g, type(t), name, by_ref));
}

void Builder::output(Graph graph, Tensor tensor) {
  State& s = State::of(*this);
  s.builder.add_output(s.id(graph), s.id(tensor));
}

Tensor Builder::variable(const Data& d, std::string_view name) {
  State& s = State::of(*this);
  ir::State v;
  v.type = s.builder.module().type(type(d.type));
  v.grouping = ir::ReplicaGrouping(s.builder.module().replicas());
  return s.handle<Tensor>(s.builder.add_variable(v, host_tensor(d), name));
}

Tensor Builder::constant(Graph graph, const Data& d, std::string_view name) {
  State& s = State::of(*this);
  return s.handle<Tensor>(s.builder.add_constant(s.id(graph), host_tensor(d), name));
}

Stream Builder::stream_to_device(std::string_view name, const Type& t) {
  State& s = State::of(*this);
  const ir::Type checked = type(t);
  return s.handle<Stream>(
      s.builder.module().add_stream({std::string(name), ir::HostStream::Direction::host_to_device, checked.dtype, checked.shape}));
}

Stream Builder::stream_to_host(std::string_view name, const Type& t) {
  State& s = State::of(*this);
  const ir::Type checked = type(t);
  return s.handle<Stream>(
      s.builder.module().add_stream({std::string(name), ir::HostStream::Direction::device_to_host, checked.dtype, checked.shape}));
}

std::vector<Tensor> Builder::op(Graph graph, std::string_view name, const std::vector<Tensor>& operands, const Attributes& attributes,
                                const std::vector<Graph>& graphs, bool in_place) {
  State& s = State::of(*this);
  std::vector<ir::TensorId> tensors;
  std::vector<ir::GraphId> carried;
  for (Tensor t : operands) tensors.push_back(s.id(t));
  for (Graph g : graphs) carried.push_back(s.id(g));
  const ir::Attributes given = attributes_of(s.builder.module(), s.identity, row_named(name), attributes);
  std::vector<Tensor> results;
  for (ir::TensorId t : s.builder.op(s.id(graph), name, tensors, given, carried, in_place)) results.push_back(s.handle<Tensor>(t));
  return results;
}

Type Builder::type_of(Tensor tensor) const {
  const State& s = State::of(*this);
  const ir::Type& t = s.builder.type_of(s.id(tensor));
  return {std::string(ir::name_of(t.dtype)), t.shape};
}

std::string Builder::name_of(Tensor tensor) const {
  const State& s = State::of(*this);
  return s.builder.id_of(s.id(tensor));
}

Gradient Builder::autodiff(Graph graph) {
  State& s = State::of(*this);
  ir::Builder& b = s.builder;
  const ir::GraphId g = s.id(graph);
  b.finish();
  const transform::GradientInfo info = transform::autodiff(b, g);
  const ir::Graph& forward = b.module().graph(info.forward);
  const auto position = [](const std::vector<ir::ValueId>& list, ir::ValueId v) {
    return static_cast<std::size_t>(std::find(list.begin(), list.end(), v) - list.begin());
  };
  Gradient out;
  out.graph = s.handle<Graph>(info.gradient);
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
  for (const transform::Connection& c : info.outputs)
    out.gives.push_back({Gradient::Kind::gradient_of_input, position(forward.inputs, c.value)});
  return out;
}

void Builder::begin_sequence() { State::of(*this).builder.push_sequence(ir::SequenceMode::ordered); }
void Builder::end_sequence() { State::of(*this).builder.pop_sequence(); }

void Builder::set_device(std::int32_t device) {
  State& s = State::of(*this);
  if (device < 0 || device > 65535)
    ir::reject(ErrorClass::value, "device-number", "there is no device {}; 0 to 65535 are possible", device);
  s.builder.set_device(device);
}

void Builder::set_io_tiles(bool on) { State::of(*this).builder.set_io_tiles(on); }

Module Builder::module() const {
  State& s = State::of(*this);
  s.builder.finish();
  return Module(std::make_unique<Module::State>(Module::State{s.builder.module(), s.identity}));
}

// --- Session -----------------------------------------------------------------------------------------------------------------------------

struct Session::State {
  // Has the variables' data.
  std::shared_ptr<void> builder;
  session::Session session;
  session::Options options;
  std::uint32_t identity = 0;

  static State& of(const Session& s) { return behind(s.state_, "session"); }
};

namespace {

session::Options options_of(const Options& o) {
  session::Options out;
  out.device = o.device;
  out.tiles_per_ipu = o.tiles_per_ipu;
  out.settings.set("num_io_tiles", o.num_io_tiles);
  out.settings.set("num_host_transfers", o.num_host_transfers);
  out.engine = o.engine;
  return out;
}

ir::StateId state_named(const ir::Module& m, std::string_view name) {
  for (std::size_t i = 0; i < m.state_count(); ++i) {
    const ir::StateId id(static_cast<ir::StateId::rep>(i));
    if (m.state(id).name == name) return id;
  }
  ir::reject(ErrorClass::key, "unknown-variable", "there is no variable '{}'", name);
}

void begin(session::Session& s) {
  s.attach();
  s.weights_from_host();
}

}  // namespace

Session::Session(Builder& builder, const Options& options) {
  Builder::State& b = Builder::State::of(builder);
  const session::Options o = options_of(options);
  state_.reset(new State{builder.state_, session::Session(b.builder, o), o, b.identity});
  begin(state_->session);
}

Session::Session(const Module& module, const Options& options) {
  const Module::State& m = Module::State::of(module);
  const session::Options o = options_of(options);
  state_.reset(new State{nullptr, session::Session(ir::Module(m.module), o), o, m.identity});
  begin(state_->session);
}

Session::Session(Session&&) noexcept = default;
Session::~Session() = default;

std::map<Stream, Data> Session::run(const std::map<Stream, Data>& inputs) {
  State& state = State::of(*this);
  session::Session& s = state.session;
  const std::int64_t slices = state.options.settings.number("num_host_transfers");
  std::vector<session::InputData> in;
  std::vector<session::OutputData> out;
  for (const auto& [stream, d] : inputs) {
    const ir::HostStreamId id = stream_of(s.lowered(), stream, state.identity);
    const ir::Shape shape = s.full_shape(id);
    const ir::DType dtype = s.lowered().stream(id).dtype;
    if (d.type.shape != shape || element(d.type.element) != dtype ||
        d.bytes.size() != static_cast<std::size_t>(ir::elements_of(shape)) * ir::size_of(dtype)) {
      ir::reject(ErrorClass::value, "stream-data", "data of {} {} for stream '{}', which takes {} {}", d.type.element,
                 ir::to_string(d.type.shape), s.lowered().stream(id).name, ir::name_of(dtype), ir::to_string(shape));
    }
    in.push_back({id, d.bytes.data(), slices});
  }
  std::map<Stream, Data> results;
  for (ir::HostStreamId id : s.outputs()) {
    const ir::HostStream& stream = s.lowered().stream(id);
    Data& d = results[{id.value, state.identity}];
    d.type = {std::string(ir::name_of(stream.dtype)), s.full_shape(id)};
    d.bytes.resize(static_cast<std::size_t>(ir::elements_of(d.type.shape)) * ir::size_of(stream.dtype));
    out.push_back({id, d.bytes.data(), slices});
  }
  s.run(in, out);
  return results;
}

Data Session::variable(std::string_view name) {
  session::Session& s = State::of(*this).session;
  return data(s.data(state_named(s.lowered(), name)));
}

void Session::set_variable(std::string_view name, const Data& d) {
  session::Session& s = State::of(*this).session;
  s.write({{state_named(s.lowered(), name), host_tensor(d)}});
}

std::int64_t Session::ipus() const { return State::of(*this).session.ipus(); }
std::string Session::report() { return State::of(*this).session.profile_summary(); }

}  // namespace pando::model
