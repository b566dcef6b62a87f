#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "gccs/constraint.h"
#include "gccs/search.h"

namespace gccs::popsolver {

namespace {

void count(ConstraintEvaluationSummary& summary, Kind kind, ConstraintEvaluationSummary::CountType n) {
  switch (kind) {
    case Kind::product: summary.product += n; return;
    case Kind::sum: summary.sum += n; return;
    case Kind::max: summary.max += n; return;
    case Kind::min: summary.min += n; return;
    case Kind::less: summary.less += n; return;
    case Kind::less_or_equal: summary.lessOrEqual += n; return;
    case Kind::call: summary.call += n; return;
    default: summary.unknown += n;
  }
}

}  // namespace

void ConstraintEvaluationSummary::operator+=(const ConstraintEvaluationSummary& o) {
  call += o.call, product += o.product, sum += o.sum, max += o.max, min += o.min;
  less += o.less, lessOrEqual += o.lessOrEqual, unknown += o.unknown;
}

std::ostream& operator<<(std::ostream& out, const ConstraintEvaluationSummary& s) {
  return out << s.total() << " (call " << s.call << ", product " << s.product << ", sum " << s.sum << ", max " << s.max << ", min " << s.min
             << ", less " << s.less << ", lessOrEqual " << s.lessOrEqual << ", other " << s.unknown << ")";
}

struct Model::State {
  Problem problem;
  std::vector<std::string> names;
  std::vector<std::pair<Value, Variable>> constants;  // sorted by value
  std::vector<std::size_t> groups;                    // of each variable
  std::vector<std::vector<std::size_t>> before;       // [group]: those that it comes before
};

Model::Model() : state_(new State) { state_->before.emplace_back(); }
Model::~Model() = default;

void Model::check(Variable v) const {
  if (v.id >= state_->names.size())
    throw std::invalid_argument("variable " + std::to_string(v.id) + " is none of this model's " + std::to_string(state_->names.size()));
}

void Model::check(PriorityGroup group) const {
  if (group.id_ >= state_->before.size())
    throw std::invalid_argument("priority group " + std::to_string(group.id_) + " is none of this model's " +
                                std::to_string(state_->before.size()));
}

const std::string& Model::getDebugName(Variable v) const {
  check(v);
  return state_->names[v.id];
}

Variable Model::addVariable(const std::string& name) { return addVariable(DataType::min(), DataType::max() - DataType(1), name); }
Variable Model::addVariable(DataType::UnderlyingType least, DataType::UnderlyingType greatest, const std::string& name) {
  return addVariable(DataType(least), DataType(greatest), name);
}

Variable Model::addVariable(DataType least, DataType greatest, const std::string& name) {
  if (least > greatest)
    throw std::invalid_argument("variable '" + name + "': no number is from " + std::to_string(*least) + " to " +
                                std::to_string(*greatest));
  const Variable v(static_cast<Variable::IndexType>(state_->names.size()));
  state_->problem.ranges.push_back({*least, *greatest});
  state_->names.push_back(name);
  state_->groups.push_back(0);
  return v;
}

Variable Model::addConstant(DataType::UnderlyingType value, const std::string& name) { return addConstant(DataType(value), name); }

Variable Model::addConstant(DataType value, const std::string& name) {
  auto& known = state_->constants;
  const auto at = std::lower_bound(known.begin(), known.end(), *value, [](const auto& c, Value v) { return c.first < v; });
  if (at != known.end() && at->first == *value) return at->second;
  return known.insert(at, {*value, addVariable(value, value, name)})->second;
}

Variable Model::addResult(int kind, const std::vector<Variable>& vars, DataType greatest, const std::string& name) {
  if (vars.empty()) throw std::invalid_argument("'" + name + "': an operation without operands");
  for (Variable v : vars) check(v);
  const Variable result = addVariable(DataType::min(), greatest, name);
  std::vector<Variable> all{result};
  all.insert(all.end(), vars.begin(), vars.end());
  addRelation(kind, all);
  return result;
}

void Model::addRelation(int kind, const std::vector<Variable>& vars) {
  Constraint c{static_cast<Kind>(kind), {}, nullptr};
  for (Variable v : vars) check(v), c.variables.push_back(v.id);
  state_->problem.constraints.push_back(std::move(c));
}

Variable Model::addCall(const std::vector<Variable>& vars, DataType greatest_argument, Function f, const std::string& name) {
  for (Variable v : vars) {
    check(v);
    if (state_->problem.ranges[v.id].least > *greatest_argument)
      throw std::invalid_argument("call '" + name + "': no value of variable " + std::to_string(v.id) +
                                  " is one of the function's arguments");
  }
  for (Variable v : vars) {
    Value& greatest = state_->problem.ranges[v.id].greatest;
    greatest = std::min(greatest, *greatest_argument);
  }
  const Variable result = addVariable(DataType::min(), DataType::max(), name);
  Constraint c{Kind::call, {result.id}, std::move(f)};
  for (Variable v : vars) c.variables.push_back(v.id);
  state_->problem.constraints.push_back(std::move(c));
  return result;
}

namespace {
int number(Kind kind) { return static_cast<int>(kind); }
}  // namespace

Variable Model::product(const std::vector<Variable>& vars, const std::string& name) {
  return addResult(number(Kind::product), vars, DataType::max(), name);
}
Variable Model::sum(const std::vector<Variable>& vars, const std::string& name) {
  return addResult(number(Kind::sum), vars, DataType::max(), name);
}
Variable Model::max(const std::vector<Variable>& vars, const std::string& name) {
  return addResult(number(Kind::max), vars, DataType::max(), name);
}
Variable Model::min(const std::vector<Variable>& vars, const std::string& name) {
  return addResult(number(Kind::min), vars, DataType::max(), name);
}

Variable Model::sub(Variable left, Variable right, const std::string& name) {
  check(left), check(right);
  const Variable result = addVariable(DataType::min(), DataType::max(), name);
  addRelation(number(Kind::sum), {left, result, right});
  return result;
}

Variable Model::floordiv(Variable left, Variable right, const std::string& name) {
  return addResult(number(Kind::floordiv), {left, right}, DataType::max(), name);
}
Variable Model::ceildiv(Variable left, Variable right, const std::string& name) {
  return addResult(number(Kind::ceildiv), {left, right}, DataType::max(), name);
}
Variable Model::mod(Variable left, Variable right, const std::string& name) {
  return addResult(number(Kind::mod), {left, right}, DataType::max(), name);
}

Variable Model::ceildivConstrainDivisor(Variable dividend, Variable divisor, const std::string& name) {
  const Variable quotient = ceildiv(dividend, divisor, name);
  addRelation(number(Kind::least_divisor), {quotient, dividend, divisor});
  return quotient;
}

void Model::less(Variable left, Variable right) { addRelation(number(Kind::less), {left, right}); }
void Model::lessOrEqual(Variable left, Variable right) { addRelation(number(Kind::less_or_equal), {left, right}); }
void Model::equal(Variable left, Variable right) {
  lessOrEqual(left, right);
  lessOrEqual(right, left);
}
void Model::factorOf(Variable left, Variable right) {
  check(left), check(right);
  addRelation(number(Kind::product), {left, right, addVariable(DataType::min(), DataType::max(), "factor")});
}

Variable Model::reifiedLess(Variable left, Variable right, const std::string& name) {
  return addResult(number(Kind::reified_less), {left, right}, DataType(1), name);
}
Variable Model::reifiedLessOrEqual(Variable left, Variable right, const std::string& name) {
  return addResult(number(Kind::reified_less_or_equal), {left, right}, DataType(1), name);
}
Variable Model::booleanNot(Variable var, const std::string& name) { return sub(one(), var, name); }
Variable Model::booleanAnd(Variable left, Variable right, const std::string& name) { return min({left, right}, name); }

Model::PriorityGroup Model::addPriorityGroup() {
  state_->before.emplace_back();
  return PriorityGroup(state_->before.size() - 1);
}
void Model::setPriorityGroup(Variable var, PriorityGroup group) {
  check(var), check(group);
  state_->groups[var.id] = group.id_;
}
void Model::prioritiseOver(PriorityGroup first, PriorityGroup second) {
  check(first), check(second);
  std::vector<std::vector<std::size_t>> before = state_->before;
  before[first.id_].push_back(second.id_);
  static_cast<void>(order_of_groups(before));
  state_->before = std::move(before);
}

Solution Model::minimize(const std::vector<Variable>& objectives) {
  Problem& problem = state_->problem;
  problem.objectives.clear();
  for (Variable v : objectives) check(v), problem.objectives.push_back(v.id);
  const std::vector<std::size_t> place = order_of_groups(state_->before);
  problem.rank.clear();
  for (std::size_t group : state_->groups) problem.rank.push_back(place[group]);

  Search search(problem);
  Solution solution;
  for (Value v : search.best()) solution.values_.emplace_back(v);
  for (std::size_t kind = 0; kind < search.evaluated().size(); ++kind)
    count(solution.evaluated_, static_cast<Kind>(kind), search.evaluated()[kind]);
  return solution;
}

}  // namespace gccs::popsolver
