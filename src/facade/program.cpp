#include "poplar/Program.hpp"

#include "facade/engine/graph_facts.h"
#include "facade/state/state.h"
#include "graph/program_walk.h"
#include "graph/step_rules.h"
#include "poplar/Graph.hpp"

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

// `owners`: of all that the body names. `of`: one of its tensors.
template <class Body>
std::shared_ptr<g::Program> make(Body body, const DebugContext& context, Owners owners = {}, const Tensor* of = nullptr) {
  const std::uint32_t graph = Access::joint_owner(owners, "a part of a program");
  auto source = pando::facade::source_line(context, of != nullptr ? Access::state(*of).graph.get() : nullptr);
  auto node = std::make_shared<g::Program>(g::Program{context.getPathName(), std::move(body), graph, 1, std::move(source)});
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

const g::Graph& graph_of(const Tensor& t) { return Access::state(t).graph->graph; }

// The rules for steps of this tensor's graph; messages say what the tensors are.
g::StepRules rules(const Tensor& t) {
  return g::StepRules(graph_of(t), [&t] { return " of " + t.getDebugStr(); });
}
g::StepRules rules(const Tensor& source, const Tensor& destination) {
  return g::StepRules(graph_of(source), [&] { return " of " + both(source, destination); });
}

void check_copy(const Tensor& src, const Tensor& dst, const char* what) {
  const g::View& s = Access::view(src, "the source of a copy");
  const g::View& d = Access::view(dst, "the destination of a copy");
  Access::joint_owner({owner(src), owner(dst)}, "a tensor of a copy");
  rules(src, dst).copy(s, d, what);
}

void check_stream(const DataStream& stream, const Tensor& t, bool to_device) {
  const g::View& v = Access::view(t, "the tensor of a stream copy");
  Access::joint_owner({owner(stream), owner(t)}, "the tensor of a stream copy");
  rules(t).fifo(graph_of(t).fifos()[Access::state(stream).id], to_device, v, to_device ? "Copy from a stream" : "Copy to a stream");
}

// `offset` may be invalid: one row, row 0.
void check_remote(const RemoteBuffer& buffer, const Tensor& t, const Tensor& offset, bool to_device) {
  const g::View& v = Access::view(t, "the tensor of a remote buffer copy");
  Access::joint_owner({owner(buffer), owner(t), offset.valid() ? owner(offset) : 0}, "the tensor of a remote buffer copy");
  const char* const what = to_device ? "Copy from a remote buffer" : "Copy to a remote buffer";
  if (to_device) rules(t).written(v, what);
  rules(t).rows(graph_of(t).remote_buffers()[Access::state(buffer).id], v, offset.valid() ? Access::view(offset) : g::View(), what);
}

// One element of an integer type.
g::View predicate_view(const Tensor& t, const char* what) {
  const g::View& v = Access::view(t, what);
  rules(t).predicate(v, what);
  return v.reshape({});
}

pando::PrintFormat format_of(const PrintTensorFmt& f) {
  return {f.summariseThreshold(), f.edgeItems(),   f.maxLineWidth(), f.digits(), static_cast<unsigned>(f.floatFormat()),
          f.separator(),          f.openBracket(), f.closeBracket()};
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

Execute::Execute(ComputeSet cs, const DebugContext& context) {
  node_ = make(g::Execute{pando::ComputeSetId(cs.getId()), {}}, context, {owner(cs)});
}
Execute::Execute(ComputeSet cs, Tensor result, const DebugContext& context) {
  const g::View& v = Access::view(result, "the result of Execute");
  rules(result).one_of(v, {pando::ElementType::boolean}, "Execute: the result");
  rules(result).written(v, "Execute: the result");
  node_ = make(g::Execute{pando::ComputeSetId(cs.getId()), v.reshape({})}, context, {owner(cs), owner(result)}, &result);
}

Copy::Copy(Tensor src, Tensor dst, bool, const DebugContext& context) {
  check_copy(src, dst, "Copy");
  node_ = make(g::Copy{Access::view(src), Access::view(dst)}, context, {owner(src), owner(dst)}, &src);
}
Copy::Copy(const DataStream& stream, Tensor dst, bool, const DebugContext& context) {
  check_stream(stream, dst, true);
  node_ = make(g::HostToDevice{Access::state(stream).id, Access::view(dst)}, context, {owner(stream), owner(dst)}, &dst);
}
Copy::Copy(Tensor src, const DataStream& stream, bool, const DebugContext& context) {
  check_stream(stream, src, false);
  node_ = make(g::DeviceToHost{Access::state(stream).id, Access::view(src)}, context, {owner(src), owner(stream)}, &src);
}
Copy::Copy(const RemoteBuffer& buffer, Tensor dst, const DebugContext& context) {
  check_remote(buffer, dst, Tensor(), true);
  node_ = make(g::RemoteRead{Access::state(buffer).id, Access::view(dst), {}}, context, {owner(buffer), owner(dst)}, &dst);
}
Copy::Copy(const RemoteBuffer& buffer, Tensor dst, Tensor offset, const DebugContext& context) {
  Access::view(offset, "the offset of a remote buffer copy");
  check_remote(buffer, dst, offset, true);
  node_ = make(g::RemoteRead{Access::state(buffer).id, Access::view(dst), Access::view(offset).flatten()}, context,
               {owner(buffer), owner(dst), owner(offset)}, &dst);
}
Copy::Copy(Tensor src, const RemoteBuffer& buffer, const DebugContext& context) {
  check_remote(buffer, src, Tensor(), false);
  node_ = make(g::RemoteWrite{Access::state(buffer).id, Access::view(src), {}}, context, {owner(src), owner(buffer)}, &src);
}
Copy::Copy(Tensor src, const RemoteBuffer& buffer, Tensor offset, const DebugContext& context) {
  Access::view(offset, "the offset of a remote buffer copy");
  check_remote(buffer, src, offset, false);
  node_ = make(g::RemoteWrite{Access::state(buffer).id, Access::view(src), Access::view(offset).flatten()}, context,
               {owner(src), owner(buffer), owner(offset)}, &src);
}
Copy::Copy(const FunctionBuffer& buffer, const Function& function, const DebugContext& context) {
  node_ = make(g::LoadFunction{pando::FunctionId(function.getId())}, context, {owner(buffer), owner(function)});
}

Repeat::Repeat(unsigned count, const Program& body, const DebugContext& context) {
  node_ = make(g::Repeat{count, Access::node(body)}, context, {owner(body)});
}

RepeatWhileTrue::RepeatWhileTrue(const Program& cond, Tensor predicate, const Program& body, const DebugContext& context) {
  node_ = make(g::RepeatWhile{Access::node(cond), predicate_view(predicate, "RepeatWhileTrue: the predicate"), false, Access::node(body)},
               context, {owner(cond), owner(predicate), owner(body)}, &predicate);
}
RepeatWhileFalse::RepeatWhileFalse(const Program& cond, Tensor predicate, const Program& body, const DebugContext& context) {
  node_ = make(g::RepeatWhile{Access::node(cond), predicate_view(predicate, "RepeatWhileFalse: the predicate"), true, Access::node(body)},
               context, {owner(cond), owner(predicate), owner(body)}, &predicate);
}

If::If(Tensor predicate, const Program& trueBody, const Program& falseBody, const DebugContext& context) {
  node_ = make(g::If{predicate_view(predicate, "If: the predicate"), Access::node(trueBody), Access::node(falseBody)}, context,
               {owner(predicate), owner(trueBody), owner(falseBody)}, &predicate);
}

Switch::Switch(Tensor control, const Program& defaultCaseBody, const DebugContext& context) {
  const g::View& view = Access::view(control, "the control of Switch");
  rules(control).control(view, "Switch: the control");
  node_ = make(g::Switch{view.reshape({}), {}, Access::node(defaultCaseBody)}, context, {owner(control), owner(defaultCaseBody)}, &control);
}
Switch::Switch(Tensor control, const DebugContext& context) : Switch(control, Program(), context) {}
Switch::Switch(Tensor control, const std::vector<std::pair<std::int32_t, Program>>& cases, const DebugContext& context)
    : Switch(control, cases, Program(), context) {}
Switch::Switch(Tensor control, const std::vector<std::pair<std::int32_t, Program>>& cases, const Program& defaultCaseBody,
               const DebugContext& context)
    : Switch(control, defaultCaseBody, context) {
  for (const auto& [value, body] : cases) add(value, body);
}

Switch Switch::switchWithBoundsChecking(Tensor control, const std::vector<std::pair<std::int32_t, Program>>& cases,
                                        const DebugContext& context) {
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
    if (c.first == value) fail(ErrorKind::control_program_error, "switch-cases", "Switch: two cases for value {}", value);
  cases.emplace_back(value, std::move(step));
  return *this;
}

Call::Call(Function function, const DebugContext& context) {
  node_ = make(g::Call{pando::FunctionId(function.getId())}, context, {owner(function)});
}
Call::Call(HostFunction function, ArrayRef<Tensor> inputs, ArrayRef<Tensor> outputs, const DebugContext& context) {
  for (const Tensor& t : outputs) rules(t).written(Access::view(t, "an argument of a host function"), "Call of a host function");
  node_ = make(g::HostCall{pando::HostFunctionId(function.getId()), views(inputs), views(outputs)}, context,
               {owner(function), Access::owner(inputs), Access::owner(outputs)});
}
Call::Call(const Program& program, const DebugContext& context) {
  node_ = make(g::Sequence{{Access::node(program)}}, context, {owner(program)});
}

Sync::Sync(SyncType type, const DebugContext& context) { node_ = make(g::Sync{static_cast<g::SyncScope>(type)}, context); }

PrintTensor::PrintTensor(StringRef title, Tensor t, const PrintTensorFmt& fmt, const DebugContext& context) {
  node_ = make(g::Print{title.cloneAsString(), Access::view(t, "the tensor of PrintTensor"), format_of(fmt)}, context, {owner(t)}, &t);
}
PrintTensor::PrintTensor(StringRef title, Tensor t, const DebugContext& context) : PrintTensor(title, t, PrintTensorFmt(), context) {}
PrintTensor::PrintTensor(Tensor t, const PrintTensorFmt& fmt, const DebugContext& context)
    : PrintTensor(context.getPathName().empty() ? t.getVarStr() : context.getPathName(), t, fmt, context) {}
PrintTensor::PrintTensor(Tensor t, const DebugContext& context) : PrintTensor(t, PrintTensorFmt(), context) {}

ErrorProgram::ErrorProgram(StringRef message, Tensor debugTensor, const DebugContext& context) {
  node_ = make(g::Error{message.cloneAsString(), Access::view(debugTensor, "the tensor of ErrorProgram"), {}}, context,
               {owner(debugTensor)}, &debugTensor);
}

Abort::Abort(const std::string& message, const DebugContext& context) { node_ = make(g::Error{message, {}, {}}, context); }
Abort::Abort(const char* message, const DebugContext& context) : Abort(std::string(message), context) {}
Abort::Abort(const DebugContext& context) : Abort(std::string("the program aborted"), context) {}

AbortOnCondition::AbortOnCondition(Tensor predicate, const std::string& message, const DebugContext& context) {
  const g::View view = predicate_view(predicate, "AbortOnCondition: the predicate");
  node_ = make(g::Error{message, view, view}, context, {owner(predicate)}, &predicate);
}
AbortOnCondition::AbortOnCondition(Tensor predicate, const char* message, const DebugContext& context)
    : AbortOnCondition(predicate, std::string(message), context) {}
AbortOnCondition::AbortOnCondition(Tensor predicate, const DebugContext& context)
    : AbortOnCondition(predicate, std::string("the condition of an AbortOnCondition is true"), context) {}

WriteUndef::WriteUndef(Tensor t, const DebugContext& context) {
  node_ = make(g::WriteUndef{Access::view(t, "the tensor of WriteUndef")}, context, {owner(t)}, &t);
}

AssumeEqualAcrossReplicas::AssumeEqualAcrossReplicas(Tensor t, const DebugContext& context) {
  Access::view(t, "the tensor of AssumeEqualAcrossReplicas");
  node_ = make(g::Sequence{}, context, {owner(t)}, &t);
}

CrossReplicaCopy::CrossReplicaCopy(Tensor src, Tensor dst, std::map<unsigned, unsigned> replicaMap, const DebugContext& context) {
  check_copy(src, dst, "CrossReplicaCopy");
  std::vector<std::pair<unsigned, unsigned>> map(replicaMap.begin(), replicaMap.end());
  rules(src, dst).replica_map(map, Access::view(dst));
  node_ = make(g::CrossReplicaCopy{Access::view(src), Access::view(dst), std::move(map)}, context, {owner(src), owner(dst)}, &src);
}

}  // namespace poplar::program
