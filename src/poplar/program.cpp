#include "poplar/Program.hpp"

#include "base/sizes.h"
#include "graph/program_walk.h"
#include "poplar/Graph.hpp"
#include "poplar/state.h"

namespace pando::facade {

graph::ProgramPtr Access::node(const poplar::program::Program& p) {
  static const graph::ProgramPtr empty = graph::make_program(graph::Sequence{});
  return p.node_ ? p.node_ : empty;
}

std::vector<graph::ProgramPtr> Access::nodes(poplar::ArrayRef<poplar::program::Program> programs) {
  std::vector<graph::ProgramPtr> result;
  result.reserve(programs.size());
  for (const poplar::program::Program& p : programs) result.push_back(node(p));
  return result;
}

poplar::program::Program Access::program(std::shared_ptr<graph::Program> node) {
  poplar::program::Program p;
  p.node_ = std::move(node);
  return p;
}

}  // namespace pando::facade

namespace poplar::program {

namespace g = pando::graph;
using pando::ErrorKind;
using pando::fail;
using pando::facade::Access;

namespace {

void deepen(g::Program& node, const g::ProgramPtr& part) {
  if (!part) return;
  if (part->depth >= g::kMostNesting)
    fail(ErrorKind::control_program_error, "too-deep", "programs are nested deeper than {}", g::kMostNesting);
  node.depth = std::max(node.depth, part->depth + 1);
}

using Owners = std::initializer_list<std::uint32_t>;

// `owners`: of all that the body names.
template <class Body>
std::shared_ptr<g::Program> make(Body body, const DebugContext& context, Owners owners = {}) {
  const std::uint32_t graph = Access::joint_owner(owners, "a part of a program");
  auto node = std::make_shared<g::Program>(g::Program{context.getPathName(), std::move(body), graph});
  g::for_each_part(*node, [&](const g::ProgramPtr& part) { deepen(*node, part); });
  return node;
}

std::uint32_t owner(const Tensor& t) { return Access::owner(t); }
std::uint32_t owner(const Program& p) { return Access::owner(p); }
std::uint32_t owner(const DataStream& s) { return Access::state(s).graph; }
std::uint32_t owner(const RemoteBuffer& b) { return Access::state(b).graph; }
template <class Tag>
std::uint32_t owner(const poplar::pando_detail::Handle<Tag>& h) {
  return h.graph();
}

// The node, to be changed: a copy if someone else holds it too.
g::Program& own(std::shared_ptr<g::Program>& node) {
  if (node.use_count() > 1) node = std::make_shared<g::Program>(*node);
  return *node;
}

std::string both(const Tensor& source, const Tensor& destination) {
  return fmt::format("source {}, destination {}", source.getDebugStr(), destination.getDebugStr());
}

void check_writable(const Tensor& t, const char* what) {
  if (t.containsConstant())
    fail(ErrorKind::control_program_error, "write-constant", "{} writes a constant: {}", what, t.getDebugStr());
  if (t.containsAliases())
    fail(ErrorKind::control_program_error, "write-aliases", "{} writes an element twice: {}", what, t.getDebugStr());
}

void check_same(const Tensor& src, const Tensor& dst, const char* what) {
  const g::View& s = Access::view(src, "the source of a copy");
  const g::View& d = Access::view(dst, "the destination of a copy");
  if (s.type() != d.type()) fail(ErrorKind::type_error, "copy-type", "{}: element types differ: {}", what, both(src, dst));
  if (s.num_elements() != d.num_elements())
    fail(ErrorKind::control_program_error, "copy-shape", "{}: numbers of elements differ: {}", what, both(src, dst));
}

void check_stream(const core::StreamState& stream, const Tensor& t, bool to_device) {
  const g::View& v = Access::view(t, "the tensor of a stream copy");
  const bool stream_to_device = stream.kind == DataStreamType::HostToDeviceFIFO || stream.kind == DataStreamType::HostToDeviceBuffer;
  if (stream_to_device != to_device)
    fail(ErrorKind::control_program_error, "copy-direction", "stream '{}' goes {} the device", stream.handle, stream_to_device ? "to" : "from");
  if (Access::element_type(stream.type) != v.type())
    fail(ErrorKind::type_error, "copy-type", "stream '{}' has elements of type {}, the tensor {}", stream.handle, stream.type.toString(), t.getDebugStr());
  if (stream.elements != v.num_elements())
    fail(ErrorKind::control_program_error, "copy-shape", "stream '{}' has blocks of {} elements, the tensor has {}: {}", stream.handle,
         stream.elements, v.num_elements(), t.getDebugStr());
}

// `offset` may be invalid: one row, row 0.
void check_remote(const core::RemoteBufferState& buffer, const Tensor& t, const Tensor& offset) {
  const g::View& v = Access::view(t, "the tensor of a remote buffer copy");
  if (Access::element_type(buffer.type) != v.type())
    fail(ErrorKind::type_error, "copy-type", "remote buffer '{}' has elements of type {}, the tensor {}", buffer.handle, buffer.type.toString(),
         t.getDebugStr());
  const std::size_t rows = offset.valid() ? offset.numElements() : 1;
  if (offset.valid() && offset.elementType() != UNSIGNED_INT && offset.elementType() != INT)
    fail(ErrorKind::type_error, "offset-type", "remote buffer '{}': offsets are {}, not unsigned int", buffer.handle, offset.elementType().toString());
  if (pando::saturating_mul(buffer.elements, rows) != v.num_elements())
    fail(ErrorKind::control_program_error, "copy-shape", "remote buffer '{}': {} rows of {} elements do not fill the tensor {}", buffer.handle, rows,
         buffer.elements, t.getDebugStr());
}

// One element of an integer type.
g::View predicate_view(const Tensor& t, const char* what) {
  const g::View& v = Access::view(t, what);
  if (v.num_elements() != 1)
    fail(ErrorKind::control_program_error, "predicate-size", "the {} has {} elements, not one: {}", what, v.num_elements(), t.getDebugStr());
  if (pando::is_floating(v.type())) fail(ErrorKind::type_error, "predicate-type", "the {} is no integer: {}", what, t.getDebugStr());
  return v.reshape({});
}

pando::PrintFormat format_of(const PrintTensorFmt& f) {
  return {f.summariseThreshold(), f.edgeItems(), f.maxLineWidth(), f.digits(), static_cast<unsigned>(f.floatFormat()), f.separator(),
          f.openBracket(), f.closeBracket()};
}

std::vector<g::View> views(ArrayRef<Tensor> tensors) {
  std::vector<g::View> result;
  for (const Tensor& t : tensors) result.push_back(Access::view(t, "an argument of a host function"));
  return result;
}

}  // namespace

Program::Program() = default;
Program::Program(const Program&) = default;
Program::Program(Program&&) noexcept = default;
Program& Program::operator=(const Program&) = default;
Program& Program::operator=(Program&&) noexcept = default;
Program::~Program() = default;

bool Program::isEmpty() const {
  if (!node_) return true;
  const auto* sequence = std::get_if<g::Sequence>(&node_->body);
  return sequence && sequence->steps.empty();
}

void dumpProgram(const Graph& graph, const Program& program, std::ostream& out) {
  out << print(Access::shared(graph).graph, Access::nodes(graph, {&program, 1}));
}

Sequence::Sequence(const DebugContext& context) { node_ = make(g::Sequence{}, context); }
Sequence::Sequence(std::initializer_list<Program> programs, const DebugContext& context) {
  std::uint32_t graph = 0;
  for (const Program& p : programs) graph = Access::joint_owner({graph, owner(p)}, "a program of a Sequence");
  node_ = make(g::Sequence{Access::nodes(programs)}, context, {graph});
}
Sequence::Sequence(const Program& first, const DebugContext& context) {
  node_ = make(g::Sequence{{Access::node(first)}}, context, {owner(first)});
}

Block::Block(const Program& program, const DebugContext& context) {
  node_ = make(g::Sequence{{Access::node(program)}, true}, context, {owner(program)});
}

void Sequence::add(const Program& program) {
  if (!node_) node_ = make(g::Sequence{}, DebugContext());
  g::ProgramPtr step = Access::node(program);  // holds itself, if a sequence is added to itself: then own() copies
  const std::uint32_t graph = Access::joint_owner({owner(*this), step->graph}, "the program added to a Sequence");
  g::Program& node = own(node_);
  deepen(node, step);
  node.graph = graph;
  std::get<g::Sequence>(node.body).steps.push_back(std::move(step));
}

Execute::Execute(ComputeSet cs, const DebugContext& context) { node_ = make(g::Execute{pando::ComputeSetId(cs.getId()), {}}, context, {owner(cs)}); }
Execute::Execute(ComputeSet cs, Tensor result, const DebugContext& context) {
  const g::View& v = Access::view(result, "the result of Execute");
  if (v.num_elements() != 1)
    fail(ErrorKind::control_program_error, "predicate-size", "the result of Execute has {} elements, not one: {}", v.num_elements(), result.getDebugStr());
  if (v.type() != pando::ElementType::boolean) fail(ErrorKind::type_error, "predicate-type", "the result of Execute is no bool: {}", result.getDebugStr());
  check_writable(result, "Execute");
  node_ = make(g::Execute{pando::ComputeSetId(cs.getId()), v.reshape({})}, context, {owner(cs), owner(result)});
}

Copy::Copy(Tensor src, Tensor dst, bool, const DebugContext& context) {
  check_same(src, dst, "Copy");
  check_writable(dst, "Copy");
  node_ = make(g::Copy{Access::view(src), Access::view(dst)}, context, {owner(src), owner(dst)});
}
Copy::Copy(const DataStream& stream, Tensor dst, bool, const DebugContext& context) {
  check_stream(Access::state(stream), dst, true);
  check_writable(dst, "Copy");
  node_ = make(g::HostToDevice{Access::state(stream).id, Access::view(dst)}, context, {owner(stream), owner(dst)});
}
Copy::Copy(Tensor src, const DataStream& stream, bool, const DebugContext& context) {
  check_stream(Access::state(stream), src, false);
  node_ = make(g::DeviceToHost{Access::state(stream).id, Access::view(src)}, context, {owner(src), owner(stream)});
}
Copy::Copy(const RemoteBuffer& buffer, Tensor dst, const DebugContext& context) {
  check_remote(Access::state(buffer), dst, Tensor());
  check_writable(dst, "Copy");
  node_ = make(g::RemoteRead{Access::state(buffer).id, Access::view(dst), {}}, context, {owner(buffer), owner(dst)});
}
Copy::Copy(const RemoteBuffer& buffer, Tensor dst, Tensor offset, const DebugContext& context) {
  Access::view(offset, "the offset of a remote buffer copy");
  check_remote(Access::state(buffer), dst, offset);
  check_writable(dst, "Copy");
  node_ = make(g::RemoteRead{Access::state(buffer).id, Access::view(dst), Access::view(offset).flatten()}, context,
               {owner(buffer), owner(dst), owner(offset)});
}
Copy::Copy(Tensor src, const RemoteBuffer& buffer, const DebugContext& context) {
  check_remote(Access::state(buffer), src, Tensor());
  node_ = make(g::RemoteWrite{Access::state(buffer).id, Access::view(src), {}}, context, {owner(src), owner(buffer)});
}
Copy::Copy(Tensor src, const RemoteBuffer& buffer, Tensor offset, const DebugContext& context) {
  Access::view(offset, "the offset of a remote buffer copy");
  check_remote(Access::state(buffer), src, offset);
  node_ = make(g::RemoteWrite{Access::state(buffer).id, Access::view(src), Access::view(offset).flatten()}, context,
               {owner(src), owner(buffer), owner(offset)});
}
Copy::Copy(const FunctionBuffer& buffer, const Function& function, const DebugContext& context) {
  node_ = make(g::LoadFunction{pando::FunctionId(function.getId())}, context, {owner(buffer), owner(function)});
}

Repeat::Repeat(unsigned count, const Program& body, const DebugContext& context) {
  node_ = make(g::Repeat{count, Access::node(body)}, context, {owner(body)});
}

RepeatWhileTrue::RepeatWhileTrue(const Program& cond, Tensor predicate, const Program& body, const DebugContext& context) {
  node_ = make(g::RepeatWhile{Access::node(cond), predicate_view(predicate, "predicate of RepeatWhileTrue"), false, Access::node(body)}, context,
               {owner(cond), owner(predicate), owner(body)});
}
RepeatWhileFalse::RepeatWhileFalse(const Program& cond, Tensor predicate, const Program& body, const DebugContext& context) {
  node_ = make(g::RepeatWhile{Access::node(cond), predicate_view(predicate, "predicate of RepeatWhileFalse"), true, Access::node(body)}, context,
               {owner(cond), owner(predicate), owner(body)});
}

If::If(Tensor predicate, const Program& trueBody, const Program& falseBody, const DebugContext& context) {
  node_ = make(g::If{predicate_view(predicate, "predicate of If"), Access::node(trueBody), Access::node(falseBody)}, context,
               {owner(predicate), owner(trueBody), owner(falseBody)});
}

Switch::Switch(Tensor control, const Program& defaultCaseBody, const DebugContext& context) {
  const g::View view = predicate_view(control, "control of Switch");
  if (view.type() != pando::ElementType::int_ && view.type() != pando::ElementType::unsigned_int)
    fail(ErrorKind::type_error, "switch-type", "the control of Switch is neither int nor unsigned int: {}", control.getDebugStr());
  node_ = make(g::Switch{view, {}, Access::node(defaultCaseBody)}, context, {owner(control), owner(defaultCaseBody)});
}
Switch::Switch(Tensor control, const DebugContext& context) : Switch(control, Program(), context) {}
Switch::Switch(Tensor control, const std::vector<std::pair<std::int32_t, Program>>& cases, const DebugContext& context)
    : Switch(control, cases, Program(), context) {}
Switch::Switch(Tensor control, const std::vector<std::pair<std::int32_t, Program>>& cases, const Program& defaultCaseBody,
               const DebugContext& context)
    : Switch(control, defaultCaseBody, context) {
  for (const auto& [value, body] : cases) add(value, body);
}

Switch Switch::switchWithBoundsChecking(Tensor control, const std::vector<std::pair<std::int32_t, Program>>& cases, const DebugContext& context) {
  return Switch(control, cases, ErrorProgram("the control of a Switch has no case", control), context);
}
Switch Switch::switchWithUnreachableDefault(Tensor control, const DebugContext& context) { return Switch(control, context); }

Switch& Switch::add(std::int32_t value, const Program& body) {
  if (!node_) fail(ErrorKind::control_program_error, "no-program", "this Switch was moved from");
  g::ProgramPtr step = Access::node(body);
  const std::uint32_t graph = Access::joint_owner({owner(*this), owner(body)}, "a case of a Switch");
  g::Program& node = own(node_);
  deepen(node, step);
  node.graph = graph;
  auto& cases = std::get<g::Switch>(node.body).cases;
  for (const auto& c : cases)
    if (c.first == value) fail(ErrorKind::control_program_error, "switch-case", "the Switch has a case {} already", value);
  cases.emplace_back(value, std::move(step));
  return *this;
}

Call::Call(Function function, const DebugContext& context) { node_ = make(g::Call{pando::FunctionId(function.getId())}, context, {owner(function)}); }
Call::Call(HostFunction function, ArrayRef<Tensor> inputs, ArrayRef<Tensor> outputs, const DebugContext& context) {
  for (const Tensor& t : outputs) check_writable(t, "a host function");
  node_ = make(g::HostCall{pando::HostFunctionId(function.getId()), views(inputs), views(outputs)}, context,
               {owner(function), Access::owner(inputs), Access::owner(outputs)});
}
Call::Call(const Program& program, const DebugContext& context) {
  node_ = make(g::Sequence{{Access::node(program)}}, context, {owner(program)});
}

Sync::Sync(SyncType type, const DebugContext& context) { node_ = make(g::Sync{static_cast<g::SyncScope>(type)}, context); }

PrintTensor::PrintTensor(StringRef title, Tensor t, const PrintTensorFmt& fmt, const DebugContext& context) {
  node_ = make(g::Print{title.cloneAsString(), Access::view(t, "the tensor of PrintTensor"), format_of(fmt)}, context, {owner(t)});
}
PrintTensor::PrintTensor(StringRef title, Tensor t, const DebugContext& context) : PrintTensor(title, t, PrintTensorFmt(), context) {}
PrintTensor::PrintTensor(Tensor t, const PrintTensorFmt& fmt, const DebugContext& context)
    : PrintTensor(context.getPathName().empty() ? t.getVarStr() : context.getPathName(), t, fmt, context) {}
PrintTensor::PrintTensor(Tensor t, const DebugContext& context) : PrintTensor(t, PrintTensorFmt(), context) {}

ErrorProgram::ErrorProgram(StringRef message, Tensor debugTensor, const DebugContext& context) {
  node_ = make(g::Error{message.cloneAsString(), Access::view(debugTensor, "the tensor of ErrorProgram"), {}}, context, {owner(debugTensor)});
}

Abort::Abort(const std::string& message, const DebugContext& context) { node_ = make(g::Error{message, {}, {}}, context); }
Abort::Abort(const char* message, const DebugContext& context) : Abort(std::string(message), context) {}
Abort::Abort(const DebugContext& context) : Abort(std::string("the program aborted"), context) {}

AbortOnCondition::AbortOnCondition(Tensor predicate, const std::string& message, const DebugContext& context) {
  const g::View view = predicate_view(predicate, "predicate of AbortOnCondition");
  node_ = make(g::Error{message, view, view}, context, {owner(predicate)});
}
AbortOnCondition::AbortOnCondition(Tensor predicate, const char* message, const DebugContext& context)
    : AbortOnCondition(predicate, std::string(message), context) {}
AbortOnCondition::AbortOnCondition(Tensor predicate, const DebugContext& context)
    : AbortOnCondition(predicate, std::string("the condition of an AbortOnCondition is true"), context) {}

WriteUndef::WriteUndef(Tensor t, const DebugContext& context) {
  node_ = make(g::WriteUndef{Access::view(t, "the tensor of WriteUndef")}, context, {owner(t)});
}

AssumeEqualAcrossReplicas::AssumeEqualAcrossReplicas(Tensor t, const DebugContext& context) {
  Access::view(t, "the tensor of AssumeEqualAcrossReplicas");
  node_ = make(g::Sequence{}, context, {owner(t)});
}

CrossReplicaCopy::CrossReplicaCopy(Tensor src, Tensor dst, std::map<unsigned, unsigned> replicaMap, const DebugContext& context) {
  check_same(src, dst, "CrossReplicaCopy");
  check_writable(dst, "CrossReplicaCopy");
  const unsigned replicas = Access::state(src).graph->graph.replication_factor();
  std::vector<bool> receives(replicas, false);
  for (const auto& [from, to] : replicaMap) {
    if (from >= replicas || to >= replicas)
      fail(ErrorKind::graph_replication_error, "replica-map", "CrossReplicaCopy from replica {} to {}; there are {} replicas", from, to, replicas);
    if (receives[to]) fail(ErrorKind::graph_replication_error, "replica-map", "CrossReplicaCopy: replica {} receives twice", to);
    receives[to] = true;
  }
  node_ = make(g::CrossReplicaCopy{Access::view(src), Access::view(dst), {replicaMap.begin(), replicaMap.end()}}, context,
               {owner(src), owner(dst)});
}

}  // namespace poplar::program
