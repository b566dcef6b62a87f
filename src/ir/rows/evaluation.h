// What the meaning of an op sees, and meanings that many rows share.
#pragma once

#include "ir/host_tensor.h"
#include "ir/op_row.h"

#include <functional>
#include <string>
#include <vector>

namespace pando::ir {

// What ops with effects ask of whoever interprets them.
class EvaluationHost {
 public:
  virtual ~EvaluationHost() = default;
  virtual HostTensor load(HostStreamId stream) = 0;
  virtual void store(HostStreamId stream, const HostTensor& data) = 0;
  virtual HostTensor load_row(BufferId buffer, std::int64_t row) = 0;
  virtual void store_row(BufferId buffer, std::int64_t row, const HostTensor& data) = 0;
  virtual void print(const std::string& text) = 0;
  virtual std::int64_t replica() const = 0;
};

class Evaluation {
 public:
  Evaluation(const Module& module, OpId op, std::vector<HostValue> operands, EvaluationHost& host)
      : module_(module), op_(op), operands_(std::move(operands)), host_(host) {}

  const Module& module() const { return module_; }
  OpId op() const { return op_; }
  const Attributes& attributes() const { return module_.attributes(op_); }
  bool in_place() const { return module_.op(op_).in_place; }
  std::size_t operands() const { return operands_.size(); }
  const HostTensor& operand(std::size_t i) const { return operands_[i].tensor; }
  const HostValue& operand_value(std::size_t i) const { return operands_[i]; }
  const Type& result_type(std::size_t i = 0) const { return module_.type_of(module_.result(op_, i)); }
  std::size_t result_count() const { return module_.results(op_).size(); }
  // Zeros of result i's type.
  HostTensor fresh(std::size_t i = 0) const { return HostTensor(result_type(i).dtype, result_type(i).shape); }
  void result(HostTensor t) { results_.push_back({std::move(t), {}}); }
  void result(HostValue v) { results_.push_back(std::move(v)); }
  std::vector<HostValue>& results() { return results_; }
  EvaluationHost& host() { return host_; }

 private:
  const Module& module_;
  OpId op_;
  std::vector<HostValue> operands_, results_;
  EvaluationHost& host_;
};

// Values of several replicas that run side by side; the outer index counts those that take part.
using ReplicaValues = std::vector<std::vector<HostValue>>;

// One op on all replicas that reach it: operand(r, i) of replica number(r). Ops between devices of one replica are ordinary rows.
class GroupEvaluation {
 public:
  // Runs a graph on the replicas at `positions`, side by side. For each: its outputs, then its updated inputs.
  using RunGraph = std::function<ReplicaValues(GraphId graph, ReplicaValues inputs, std::span<const std::size_t> positions)>;

  // `numbers`: which replicas take part. All of the module's, but in a branch that some do not take.
  GroupEvaluation(const Module& module, OpId op, std::vector<std::int64_t> numbers, ReplicaValues operands, RunGraph run_graph)
      : module_(module),
        op_(op),
        numbers_(std::move(numbers)),
        operands_(std::move(operands)),
        results_(operands_.size()),
        run_graph_(std::move(run_graph)) {}
  const Module& module() const { return module_; }
  OpId op() const { return op_; }
  const Attributes& attributes() const { return module_.attributes(op_); }
  std::size_t replicas() const { return operands_.size(); }
  std::int64_t number(std::size_t replica) const { return numbers_[replica]; }
  const HostTensor& operand(std::size_t replica, std::size_t i) const { return operands_[replica][i].tensor; }
  const std::vector<HostValue>& operands(std::size_t replica) const { return operands_[replica]; }
  const Type& result_type(std::size_t i = 0) const { return module_.type_of(module_.result(op_, i)); }
  HostTensor fresh(std::size_t i = 0) const { return HostTensor(result_type(i).dtype, result_type(i).shape); }
  void result(std::size_t replica, HostTensor t) { results_[replica].push_back({std::move(t), {}}); }
  void result(std::size_t replica, HostValue v) { results_[replica].push_back(std::move(v)); }
  ReplicaValues& results() { return results_; }
  // For each group of attributes "stride" and "group_size" (absent: all replicas in one group), the positions of its members, in the
  // order of their numbers. Rejects (popart) a group of which only some are here: they would wait for ever.
  std::vector<std::vector<std::size_t>> groups() const;
  // Which member of its group a replica is.
  std::int64_t member(std::size_t replica) const;
  ReplicaValues run_graph(GraphId graph, ReplicaValues inputs, std::span<const std::size_t> positions) const {
    return run_graph_(graph, std::move(inputs), positions);
  }

 private:
  ReplicaGrouping grouping() const;

  const Module& module_;
  OpId op_;
  std::vector<std::int64_t> numbers_;
  ReplicaValues operands_, results_;
  RunGraph run_graph_;
};

// Element by element in double, rounded to the result's type once. Integers beyond 2^53 go through map_integers.
void map_elements(Evaluation& e, const std::function<double(double)>& f);
// With broadcasting. `f` in double, `g` (where given) for integer operands.
void map_pairs(Evaluation& e, const std::function<double(double, double)>& f,
               const std::function<std::int64_t(std::int64_t, std::int64_t)>& g = {});
// The reference of a row, from a function without captures.
template <class F>
constexpr auto map_unary(F) {
  return +[](Evaluation& e) { map_elements(e, F{}); };
}
template <class F>
constexpr auto map_binary(F) {
  return +[](Evaluation& e) { map_pairs(e, F{}); };
}

// Index of the element of an operand that broadcasts to `out`, for row-major position `i` of `out`.
std::int64_t broadcast_index(const Shape& operand, const Shape& out, std::int64_t i);

}  // namespace pando::ir
