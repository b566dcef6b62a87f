// What the tensors of a step must be: one list of rules. The facade asks as a step is made, verify() before a program is compiled; messages
// and ids are the same.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"

namespace pando::graph {

class StepRules {
 public:
  // `details`: what stands behind the step's name in messages, asked for only where a rule is broken.
  explicit StepRules(const Graph& graph, std::function<std::string()> details = {}) : graph_(graph), details_(std::move(details)) {}

  // Each throws the documented error with a message that begins with `what`.
  void needs(const View& v, const char* what) const;
  // Also: no constants, no element twice.
  void written(const View& v, const char* what) const;
  void not_constant(const View& v, const char* what) const;
  void same_type(ElementType have, ElementType want, const char* what) const;
  // `of`: what `want` is the size of.
  void elements(const View& v, std::uint64_t want, const char* what, const std::string& of) const;
  void one_of(const View& v, std::initializer_list<ElementType> types, const char* what) const;
  void predicate(const View& v, const char* what) const {
    one_of(v, {ElementType::boolean, ElementType::int_, ElementType::unsigned_int}, what);
  }
  void control(const View& v, const char* what) const { one_of(v, {ElementType::int_, ElementType::unsigned_int}, what); }

  // From, and to, tensors.
  void copy(const View& source, const View& destination, const char* what) const;
  void fifo(const Fifo& f, bool to_device, const View& v, const char* what) const;
  // `offset` may be invalid: row 0.
  void rows(const RemoteBuffer& b, const View& tensor, const View& offset, const char* what) const;
  void block(const Channel& c, const View& tensor, const char* what) const;
  void sent(const Channel& c, const View& source) const;
  void host_call(const HostFunction& f, const std::vector<View>& inputs, const std::vector<View>& outputs) const;
  // The value of each case stands once.
  void cases(std::vector<std::int32_t> values) const;
  // Of the replicas that have `destination`.
  void replica_map(const std::vector<std::pair<unsigned, unsigned>>& map, const View& destination) const;

 private:
  std::string details() const { return details_ ? details_() : std::string(); }
  void arguments(const HostFunction& f, const std::vector<View>& have, const std::vector<std::pair<ElementType, std::uint64_t>>& want,
                 const char* which) const;

  const Graph& graph_;
  std::function<std::string()> details_;
};

}  // namespace pando::graph
