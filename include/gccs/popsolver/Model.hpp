// Bounded search over whole numbers: variables with a range each, constraints between them, and the assignment of least cost.
#ifndef gccs_popsolver_Model_hpp
#define gccs_popsolver_Model_hpp

#include <cstddef>
#include <cstdint>
#include <functional>
#include <gccs/popsolver/Variable.hpp>
#include <limits>
#include <memory>
#include <ostream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace gccs {
namespace popsolver {

/// How often a kind of constraint was looked at.
struct POPLAR_EXPORT ConstraintEvaluationSummary {
  using CountType = std::uint64_t;
  CountType call = 0, product = 0, sum = 0, max = 0, min = 0, less = 0, lessOrEqual = 0, unknown = 0;

  CountType total() const { return call + product + sum + max + min + less + lessOrEqual + unknown; }
  void operator+=(const ConstraintEvaluationSummary& other);
};
POPLAR_EXPORT std::ostream& operator<<(std::ostream& out, const ConstraintEvaluationSummary& summary);

/// What minimize() found: a value for each variable, or nothing. A Variable that no model returned, of a cost that was never estimated, has
/// the value 0; other numbers of variables that the model does not have throw std::out_of_range.
class Solution {
 public:
  Solution() = default;
  explicit Solution(std::vector<DataType> values) : values_(std::move(values)) {}

  bool validSolution() const { return !values_.empty(); }
  DataType& operator[](Variable v) {
    static thread_local DataType none;
    return v.id == Variable().id ? none = DataType() : values_.at(v.id);
  }
  DataType operator[](Variable v) const { return v.id == Variable().id ? DataType() : values_.at(v.id); }
  ConstraintEvaluationSummary constraintsEvaluated() const { return evaluated_; }

 private:
  friend class Model;
  std::vector<DataType> values_;
  ConstraintEvaluationSummary evaluated_;
};

/// Variables and constraints. Operations add a variable for their result. All numbers are unsigned: a difference below zero, and a division
/// by zero, have no solution. Variables and groups that the model does not have, and ranges that are empty, are rejected
/// (std::invalid_argument) and leave no constraint.
class POPLAR_EXPORT Model {
 public:
  class PriorityGroup {
    friend class Model;
    explicit PriorityGroup(std::size_t id) : id_(id) {}
    std::size_t id_;
  };

  Model();
  ~Model();
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  /// Any value but DataType::max().
  Variable addVariable(const std::string& debugName = "");
  /// From `least` to `greatest`, both included.
  Variable addVariable(DataType least, DataType greatest, const std::string& debugName = "");
  Variable addVariable(DataType::UnderlyingType least, DataType::UnderlyingType greatest, const std::string& debugName = "");
  Variable addConstant(DataType value, const std::string& debugName = "");
  Variable addConstant(DataType::UnderlyingType value, const std::string& debugName = "");
  Variable zero() { return addConstant(0); }
  Variable one() { return addConstant(1); }

  Variable product(const std::vector<Variable>& vars, const std::string& debugName = "");
  Variable sum(const std::vector<Variable>& vars, const std::string& debugName = "");
  Variable max(const std::vector<Variable>& vars, const std::string& debugName = "");
  Variable min(const std::vector<Variable>& vars, const std::string& debugName = "");
  Variable sub(Variable left, Variable right, const std::string& debugName = "");
  Variable floordiv(Variable left, Variable right, const std::string& debugName = "");
  Variable ceildiv(Variable left, Variable right, const std::string& debugName = "");
  /// ceildiv, and the divisor is the least one with that quotient.
  Variable ceildivConstrainDivisor(Variable dividend, Variable divisor, const std::string& debugName = "");
  Variable mod(Variable left, Variable right, const std::string& debugName = "");

  void less(Variable left, Variable right);
  void less(Variable left, DataType right) { less(left, addConstant(right)); }
  void less(DataType left, Variable right) { less(addConstant(left), right); }
  void lessOrEqual(Variable left, Variable right);
  void lessOrEqual(Variable left, DataType right) { lessOrEqual(left, addConstant(right)); }
  void lessOrEqual(DataType left, Variable right) { lessOrEqual(addConstant(left), right); }
  void equal(Variable left, Variable right);
  void equal(Variable left, DataType right) { equal(left, addConstant(right)); }
  void equal(DataType left, Variable right) { equal(addConstant(left), right); }
  /// `right` divides `left`.
  void factorOf(Variable left, Variable right);
  void factorOf(DataType left, Variable right) { factorOf(addConstant(left), right); }

  /// 1 if the relation holds, 0 otherwise.
  Variable reifiedLess(Variable left, Variable right, const std::string& debugName = "");
  Variable reifiedLessOrEqual(Variable left, Variable right, const std::string& debugName = "");
  /// Of variables that are 0 or 1.
  Variable booleanNot(Variable var, const std::string& debugName = "");
  Variable booleanAnd(Variable left, Variable right, const std::string& debugName = "");

  /// The value of `f`, which is asked once its arguments are known: vector<T> -> DataType, or an optional of it; nothing: no solution has
  /// these arguments. Arguments are values of T.
  template <class T, class F>
  Variable call(const std::vector<Variable>& vars, F f, const std::string& debugName = "");

  /// Variables of a group are tried out before those of the groups that it comes before. Rejected where groups would then come before
  /// themselves.
  PriorityGroup addPriorityGroup();
  PriorityGroup getDefaultPriorityGroup() const { return PriorityGroup(0); }
  void setPriorityGroup(Variable var, PriorityGroup group);
  void prioritiseOver(PriorityGroup first, PriorityGroup second);

  /// The solution with the least values of `objectives`, the first of them counting first; of several the same in every run.
  Solution minimize(const std::vector<Variable>& objectives);
  Solution minimize(Variable objective) { return minimize(std::vector<Variable>{objective}); }

  const std::string& getDebugName(Variable v) const;

 private:
  using Function = std::function<bool(const std::vector<DataType>& arguments, DataType& result)>;
  struct State;

  Variable addCall(const std::vector<Variable>& vars, DataType greatestArgument, Function f, const std::string& debugName);
  Variable addResult(int kind, const std::vector<Variable>& vars, DataType greatest, const std::string& debugName);
  void addRelation(int kind, const std::vector<Variable>& vars);
  void check(Variable v) const;
  void check(PriorityGroup group) const;

  std::unique_ptr<State> state_;
};

template <class T, class F>
Variable Model::call(const std::vector<Variable>& vars, F f, const std::string& debugName) {
  const auto asked = [f](const std::vector<DataType>& arguments, DataType& result) -> bool {
    std::vector<T> values;
    values.reserve(arguments.size());
    for (DataType a : arguments) values.push_back(static_cast<T>(a));
    const auto answer = f(values);
    if constexpr (std::is_same<std::decay_t<decltype(answer)>, DataType>::value) {
      result = answer;
      return true;
    } else {
      if (answer) result = *answer;
      return bool(answer);
    }
  };
  DataType greatest = DataType::max();
  if constexpr (!std::is_same<T, DataType>::value)
    greatest = DataType(static_cast<DataType::UnderlyingType>(std::numeric_limits<T>::max()));
  return addCall(vars, greatest, asked, debugName);
}

}  // namespace popsolver
}  // namespace gccs

#endif
