#include <algorithm>

#include "base/error.h"
#include "base/sizes.h"
#include "graph/graph.h"
#include "graph/program_walk.h"
#include "graph/verify_parts.h"

namespace pando::graph {

namespace {

class Checker {
 public:
  explicit Checker(const Graph& graph) : graph_(graph) {}

  void check(const Program& program) {
    path_ = program.name;
    std::visit([&](const auto& body) { step(body); }, program.body);
  }

 private:
  std::string in() const { return path_.empty() ? std::string() : " ('" + path_ + "')"; }

  void needs(const View& v, const char* what) const {
    if (!v.valid())
      fail(ErrorKind::control_program_error, "invalid-tensor", "{}{}: the tensor is not valid (default-constructed)", what,
           in());
  }

  void written(const View& v, const char* what) const {
    needs(v, what);
    for (VariableId id : v.variables())
      if (graph_.variables()[id].constant)
        fail(ErrorKind::control_program_error, "constant-is-fixed", "{}{}: writes constant '{}'", what, in(),
             graph_.variables()[id].name);
    if (v.contains_aliases())
      fail(ErrorKind::control_program_error, "write-of-aliases", "{}{}: the destination of shape {} holds an element twice",
           what, in(), to_string(v.shape()));
  }

  void same_type(ElementType have, ElementType want, const char* what) const {
    if (have != want)
      fail(ErrorKind::type_error, "copy-types", "{}{}: from type {} to type {}", what, in(), name_of(have), name_of(want));
  }

  void elements(const View& v, std::uint64_t want, const char* what, const std::string& of) const {
    if (v.num_elements() == want) return;
    fail(ErrorKind::control_program_error, "copy-sizes",
         "{}{}: a tensor of shape {}, which has {} elements, and {}, which has {}", what, in(), to_string(v.shape()),
         v.num_elements(), of, want);
  }

  void one_of(const View& v, std::initializer_list<ElementType> types, const char* what) const {
    needs(v, what);
    if (v.num_elements() != 1)
      fail(ErrorKind::control_program_error, "predicate-shape", "{}{}: takes one element; the tensor has shape {}", what, in(),
           to_string(v.shape()));
    if (std::find(types.begin(), types.end(), v.type()) != types.end()) return;
    std::string wanted;
    for (ElementType t : types) wanted += (wanted.empty() ? "" : ", ") + std::string(name_of(t));
    fail(ErrorKind::type_error, "predicate-type", "{}{}: takes type {}; the tensor has {}", what, in(), wanted, name_of(v.type()));
  }
  void predicate(const View& v, const char* what) const {
    one_of(v, {ElementType::boolean, ElementType::int_, ElementType::unsigned_int}, what);
  }

  template <class Map, class I>
  void known(const Map& map, I id, const char* what) const {
    if (!id.valid() || id.index() >= map.size())
      fail(ErrorKind::control_program_error, "unknown-object", "{}{}: number {}; the graph has {}", what, in(), id.value,
           map.size());
  }

  void step(const Sequence&) {}
  void step(const Repeat&) {}
  void step(const Execute& p) {
    known(graph_.compute_sets(), p.compute_set, "Execute of a compute set");
    if (!p.result.valid()) return;
    predicate(p.result, "Execute: the result");
    written(p.result, "Execute: the result");
  }
  void step(const Copy& p) {
    needs(p.source, "Copy: the source");
    written(p.destination, "Copy");
    same_type(p.source.type(), p.destination.type(), "Copy");
    elements(p.source, p.destination.num_elements(), "Copy", "the destination of shape " + to_string(p.destination.shape()));
  }
  void step(const HostToDevice& p) {
    known(graph_.fifos(), p.fifo, "Copy from a stream");
    const Fifo& f = graph_.fifos()[p.fifo];
    written(p.destination, "Copy from a stream");
    fifo(f, true, p.destination, "Copy from a stream");
  }
  void step(const DeviceToHost& p) {
    known(graph_.fifos(), p.fifo, "Copy to a stream");
    needs(p.source, "Copy to a stream");
    fifo(graph_.fifos()[p.fifo], false, p.source, "Copy to a stream");
  }
  void fifo(const Fifo& f, bool to_device, const View& v, const char* what) const {
    if (f.to_device != to_device)
      fail(ErrorKind::control_program_error, "stream-direction", "{}{}: stream '{}' goes from {}", what, in(), f.handle,
           f.to_device ? "the host to the device" : "the device to the host");
    if (to_device) same_type(f.type, v.type(), what);
    else same_type(v.type(), f.type, what);
    elements(v, f.elements, what, "stream '" + f.handle + "'");
  }

  void step(const RemoteRead& p) {
    written(p.tensor, "Copy from a remote buffer");
    remote(p.buffer, p.tensor, p.offset, "Copy from a remote buffer");
  }
  void step(const RemoteWrite& p) {
    needs(p.tensor, "Copy to a remote buffer");
    remote(p.buffer, p.tensor, p.offset, "Copy to a remote buffer");
  }
  void remote(RemoteBufferId id, const View& tensor, const View& offset, const char* what) const {
    known(graph_.remote_buffers(), id, what);
    const RemoteBuffer& b = graph_.remote_buffers()[id];
    same_type(tensor.type(), b.type, what);
    std::uint64_t rows = 1;
    if (offset.valid()) {
      rows = offset.num_elements();
      if (offset.type() != ElementType::unsigned_int && offset.type() != ElementType::int_)
        fail(ErrorKind::type_error, "offset-type", "{}{}: the offsets have type {}, not unsigned int or int", what, in(),
             name_of(offset.type()));
    }
    elements(tensor, saturating_mul(rows, b.elements), what, fmt::format("{} row{} of remote buffer '{}'", rows, rows == 1 ? "" : "s", b.handle));
  }

  void step(const RepeatWhile& p) {
    predicate(p.predicate, p.until ? "RepeatWhileFalse: the predicate" : "RepeatWhileTrue: the predicate");
  }
  void step(const If& p) { predicate(p.predicate, "If: the predicate"); }
  void step(const Switch& p) {
    one_of(p.control, {ElementType::int_, ElementType::unsigned_int}, "Switch: the control");
    std::vector<std::int32_t> values;
    for (const auto& [value, body] : p.cases) values.push_back(value);
    std::sort(values.begin(), values.end());
    const auto twice = std::adjacent_find(values.begin(), values.end());
    if (twice != values.end())
      fail(ErrorKind::control_program_error, "switch-cases", "Switch{}: two cases for value {}", in(), *twice);
  }
  void step(const Call& p) { known(graph_.functions(), p.function, "Call of a function"); }
  void step(const LoadFunction& p) { known(graph_.functions(), p.function, "load of a function"); }
  void step(const HostCall& p) {
    known(graph_.host_functions(), p.function, "Call of a host function");
    const HostFunction& f = graph_.host_functions()[p.function];
    arguments(f, p.inputs, f.inputs, "inputs");
    arguments(f, p.outputs, f.outputs, "outputs");
    for (std::size_t i = 0; i < p.outputs.size(); ++i) {
      written(p.outputs[i], "Call of a host function");
      for (std::size_t j = 0; j < i; ++j)
        if (p.outputs[j].intersects(p.outputs[i]))
          fail(ErrorKind::control_program_error, "write-of-aliases", "Call of host function '{}'{}: outputs {} and {} share elements", f.handle,
               in(), j, i);
    }
  }
  void arguments(const HostFunction& f, const std::vector<View>& have,
                 const std::vector<std::pair<ElementType, std::uint64_t>>& want, const char* which) const {
    if (have.size() != want.size())
      fail(ErrorKind::control_program_error, "host-arguments", "Call of host function '{}'{} with {} {}; it has {}", f.handle,
           in(), have.size(), which, want.size());
    for (std::size_t i = 0; i < have.size(); ++i) {
      needs(have[i], "Call of a host function");
      same_type(have[i].type(), want[i].first, "Call of a host function");
      elements(have[i], want[i].second, "Call of a host function", fmt::format("{}[{}] of '{}'", which, i, f.handle));
    }
  }
  void step(const Sync&) {}
  void step(const Print& p) { needs(p.tensor, "PrintTensor"); }
  void step(const Error& p) {
    if (p.condition.valid()) predicate(p.condition, "AbortOnCondition: the predicate");
  }
  void step(const WriteUndef& p) {
    needs(p.tensor, "WriteUndef");
    for (VariableId id : p.tensor.variables())
      if (graph_.variables()[id].constant)
        fail(ErrorKind::control_program_error, "constant-is-fixed", "WriteUndef{}: writes constant '{}'", in(),
             graph_.variables()[id].name);
  }
  void step(const CrossReplicaCopy& p) {
    needs(p.source, "CrossReplicaCopy: the source");
    written(p.destination, "CrossReplicaCopy");
    same_type(p.source.type(), p.destination.type(), "CrossReplicaCopy");
    elements(p.source, p.destination.num_elements(), "CrossReplicaCopy",
             "the destination of shape " + to_string(p.destination.shape()));
    std::vector<unsigned> receivers;
    for (const auto& [from, to] : p.map) {
      if (std::max(from, to) >= graph_.replication_factor())
        fail(ErrorKind::control_program_error, "no-such-replica", "CrossReplicaCopy{}: from replica {} to {}; the graph has {}",
             in(), from, to, graph_.replication_factor());
      receivers.push_back(to);
    }
    std::sort(receivers.begin(), receivers.end());
    const auto twice = std::adjacent_find(receivers.begin(), receivers.end());
    if (twice != receivers.end())
      fail(ErrorKind::control_program_error, "replica-receives-twice",
           "CrossReplicaCopy{}: replica {} receives from two replicas", in(), *twice);
  }
  void step(const Send& p) {
    needs(p.source, "send");
    block(p.channel, p.source, "send");
    if (p.source.contains_aliases())
      fail(ErrorKind::control_program_error, "send-of-aliases", "send{}: the tensor of shape {} holds an element twice: copy it to one that does not, and send that",
           in(), to_string(p.source.shape()));
  }
  void step(const Receive& p) {
    written(p.destination, "receive");
    block(p.channel, p.destination, "receive");
  }
  void block(ChannelId id, const View& tensor, const char* what) const {
    known(graph_.channels(), id, what);
    const Channel& c = graph_.channels()[id];
    same_type(tensor.type(), c.type, what);
    elements(tensor, c.elements, what, "a block of channel '" + c.name + "'");
  }
  void step(const CycleStamp& p) {
    written(p.stamp, "cycle count");
    same_type(ElementType::unsigned_int, p.stamp.type(), "cycle count");
    elements(p.stamp, 2, "cycle count", "a cycle count");
    if (p.tile.value >= graph_.machine().tiles())
      fail(ErrorKind::invalid_tile_mapping, "no-such-tile", "cycle count{} of tile {}; machine '{}' has {} tiles", in(),
           p.tile.value, graph_.machine().name, graph_.machine().tiles());
  }

  const Graph& graph_;
  std::string path_;
};

// Depth-first over calls: a function that is reached while it is still open recurs. Bodies and what they call nest together.
class RecursionFinder {
 public:
  explicit RecursionFinder(const Graph& graph)
      : graph_(graph), state_(graph.functions().size(), State::unseen), depth_(graph.functions().size(), 0) {}

  // How deep the function nests, what it calls included.
  std::uint32_t enter(FunctionId id) {
    State& state = state_[id.index()];
    if (state == State::done) return depth_[id.index()];
    open_.push_back(id);
    if (state == State::open) recurs(id);
    state = State::open;
    const ProgramPtr& body = graph_.functions()[id].body;
    const std::uint32_t own = body ? body->depth : 1;
    open_depth_ += own;
    if (open_depth_ > kMostNesting) too_deep(id);
    depth_[id.index()] = own + deepest_call(body);
    if (depth_[id.index()] > kMostNesting) too_deep(id);
    state = State::done;
    open_depth_ -= own;
    open_.pop_back();
    return depth_[id.index()];
  }

  std::uint32_t deepest_call(const ProgramPtr& body) {
    std::uint32_t deepest = 0;
    ProgramWalk walk;
    walk.visit(body, [&](const Program& p) {
      if (const auto* call = std::get_if<Call>(&p.body)) deepest = std::max(deepest, enter(call->function));
    });
    return deepest;
  }

 private:
  enum class State : std::uint8_t { unseen, open, done };

  [[noreturn]] void too_deep(FunctionId id) const {
    fail(ErrorKind::control_program_error, "too-deep", "function '{}' and what it calls are nested deeper than {}", graph_.functions()[id].name,
         kMostNesting);
  }

  [[noreturn]] void recurs(FunctionId id) const {
    std::string chain;
    for (auto it = std::find(open_.begin(), open_.end(), id); it != open_.end(); ++it)
      chain += (chain.empty() ? "" : " -> ") + fmt::format("{} '{}'", it->value, graph_.functions()[*it].name);
    fail(ErrorKind::graph_recursion_error, "recursion", "a function calls itself: function {}", chain);
  }

  const Graph& graph_;
  std::vector<State> state_;
  std::vector<FunctionId> open_;
  std::vector<std::uint32_t> depth_;  // of the ones that are done
  std::uint32_t open_depth_ = 0;      // of the bodies of the open ones together
};

}  // namespace

void verify_programs(const Graph& graph, std::span<const ProgramPtr> programs) {
  Checker checker(graph);
  ProgramWalk walk;
  auto check = [&](const Program& p) { checker.check(p); };
  for (const Function& f : graph.functions()) walk.visit(f.body, check);
  for (const ProgramPtr& p : programs) walk.visit(p, check);
  RecursionFinder recursion(graph);
  for (std::uint32_t i = 0; i < graph.functions().size(); ++i) recursion.enter(FunctionId(i));
}

}  // namespace pando::graph
