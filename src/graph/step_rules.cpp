#include "graph/step_rules.h"

#include <algorithm>

#include "base/error.h"
#include "base/sizes.h"

namespace pando::graph {

void StepRules::needs(const View& v, const char* what) const {
  if (!v.valid())
    fail(ErrorKind::control_program_error, "invalid-tensor", "{}{}: the tensor is not valid (default-constructed)", what, details());
}

void StepRules::not_constant(const View& v, const char* what) const {
  for (VariableId id : v.variables())
    if (graph_.variables()[id].constant)
      fail(ErrorKind::control_program_error, "constant-is-fixed", "{}{}: writes constant '{}'", what, details(),
           graph_.variables()[id].name);
}

void StepRules::written(const View& v, const char* what) const {
  needs(v, what);
  not_constant(v, what);
  if (v.contains_aliases())
    fail(ErrorKind::control_program_error, "write-of-aliases", "{}{}: the destination of shape {} holds an element twice", what, details(),
         to_string(v.shape()));
}

void StepRules::same_type(ElementType have, ElementType want, const char* what) const {
  if (have != want)
    fail(ErrorKind::type_error, "copy-types", "{}{}: from type {} to type {}", what, details(), name_of(have), name_of(want));
}

void StepRules::elements(const View& v, std::uint64_t want, const char* what, const std::string& of) const {
  if (v.num_elements() == want) return;
  fail(ErrorKind::control_program_error, "copy-sizes", "{}{}: a tensor of shape {}, which has {} elements, and {}, which has {}", what,
       details(), to_string(v.shape()), v.num_elements(), of, want);
}

void StepRules::one_of(const View& v, std::initializer_list<ElementType> types, const char* what) const {
  needs(v, what);
  if (v.num_elements() != 1)
    fail(ErrorKind::control_program_error, "predicate-shape", "{}{}: takes one element; the tensor has shape {}", what, details(),
         to_string(v.shape()));
  if (std::find(types.begin(), types.end(), v.type()) != types.end()) return;
  std::string wanted;
  for (ElementType t : types) wanted += (wanted.empty() ? "" : ", ") + std::string(name_of(t));
  fail(ErrorKind::type_error, "predicate-type", "{}{}: takes type {}; the tensor has {}", what, details(), wanted, name_of(v.type()));
}

void StepRules::copy(const View& source, const View& destination, const char* what) const {
  if (!source.valid()) needs(source, (std::string(what) + ": the source").c_str());
  written(destination, what);
  same_type(source.type(), destination.type(), what);
  if (source.num_elements() == destination.num_elements()) return;
  elements(source, destination.num_elements(), what, "the destination of shape " + to_string(destination.shape()));
}

void StepRules::fifo(const Fifo& f, bool to_device, const View& v, const char* what) const {
  if (to_device)
    written(v, what);
  else
    needs(v, what);
  if (f.to_device != to_device)
    fail(ErrorKind::control_program_error, "stream-direction", "{}{}: stream '{}' goes from {}", what, details(), f.handle,
         f.to_device ? "the host to the device" : "the device to the host");
  if (to_device)
    same_type(f.type, v.type(), what);
  else
    same_type(v.type(), f.type, what);
  elements(v, f.elements, what, "stream '" + f.handle + "'");
}

void StepRules::rows(const RemoteBuffer& b, const View& tensor, const View& offset, const char* what) const {
  needs(tensor, what);
  same_type(tensor.type(), b.type, what);
  std::uint64_t rows = 1;
  if (offset.valid()) {
    rows = offset.num_elements();
    if (offset.type() != ElementType::unsigned_int && offset.type() != ElementType::int_)
      fail(ErrorKind::type_error, "offset-type", "{}{}: the offsets have type {}, not unsigned int or int", what, details(),
           name_of(offset.type()));
  }
  elements(tensor, saturating_mul(rows, b.elements), what,
           fmt::format("{} row{} of remote buffer '{}'", rows, rows == 1 ? "" : "s", b.handle));
}

void StepRules::block(const Channel& c, const View& tensor, const char* what) const {
  same_type(tensor.type(), c.type, what);
  elements(tensor, c.elements, what, "a block of channel '" + c.name + "'");
}

void StepRules::sent(const Channel& c, const View& source) const {
  needs(source, "send");
  block(c, source, "send");
  if (source.contains_aliases())
    fail(ErrorKind::control_program_error, "send-of-aliases",
         "send{}: the tensor of shape {} holds an element twice: copy it to one that does not, and send that", details(),
         to_string(source.shape()));
}

void StepRules::host_call(const HostFunction& f, const std::vector<View>& inputs, const std::vector<View>& outputs) const {
  arguments(f, inputs, f.inputs, "inputs");
  arguments(f, outputs, f.outputs, "outputs");
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    written(outputs[i], "Call of a host function");
    for (std::size_t j = 0; j < i; ++j)
      if (outputs[j].intersects(outputs[i]))
        fail(ErrorKind::control_program_error, "write-of-aliases", "Call of host function '{}'{}: outputs {} and {} share elements",
             f.handle, details(), j, i);
  }
}

void StepRules::arguments(const HostFunction& f, const std::vector<View>& have,
                          const std::vector<std::pair<ElementType, std::uint64_t>>& want, const char* which) const {
  if (have.size() != want.size())
    fail(ErrorKind::control_program_error, "host-arguments", "Call of host function '{}'{} with {} {}; it has {}", f.handle, details(),
         have.size(), which, want.size());
  for (std::size_t i = 0; i < have.size(); ++i) {
    needs(have[i], "Call of a host function");
    same_type(have[i].type(), want[i].first, "Call of a host function");
    elements(have[i], want[i].second, "Call of a host function", fmt::format("{}[{}] of '{}'", which, i, f.handle));
  }
}

void StepRules::cases(std::vector<std::int32_t> values) const {
  std::sort(values.begin(), values.end());
  const auto twice = std::adjacent_find(values.begin(), values.end());
  if (twice != values.end()) fail(ErrorKind::control_program_error, "switch-cases", "Switch{}: two cases for value {}", details(), *twice);
}

void StepRules::replica_map(const std::vector<std::pair<unsigned, unsigned>>& map, const View& destination) const {
  const unsigned replicas = graph_.replication_factor(graph_.replication_of(destination));
  std::vector<unsigned> receivers;
  for (const auto& [from, to] : map) {
    if (std::max(from, to) >= replicas)
      fail(ErrorKind::graph_replication_error, "no-such-replica", "CrossReplicaCopy{}: from replica {} to {}; the graph has {}", details(),
           from, to, replicas);
    receivers.push_back(to);
  }
  std::sort(receivers.begin(), receivers.end());
  const auto twice = std::adjacent_find(receivers.begin(), receivers.end());
  if (twice != receivers.end())
    fail(ErrorKind::graph_replication_error, "replica-receives-twice", "CrossReplicaCopy{}: replica {} receives from two replicas",
         details(), *twice);
}

}  // namespace pando::graph
