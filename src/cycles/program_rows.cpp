// The lowered program as a tree, from the tile program's instructions: what branches and calls are made of is told by their targets.
#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "cycles/cycle_model.h"
#include "cycles/facts.h"
#include "cycles/step_cost.h"
#include "tile/step.h"

namespace pando::cycles {

namespace {

using Instructions = std::vector<tile::Instruction>;

tile::Flow flow_of(const tile::Instruction& i) { return tile::row_of(i.op).flow; }
bool begins_loop(tile::Flow flow) { return flow == tile::Flow::repeat || flow == tile::Flow::loop_begin; }

std::uint32_t row_in(const std::map<ComputeSetId, std::uint32_t>& rows, ComputeSetId id) {
  const auto it = rows.find(id);
  return it == rows.end() ? 0 : it->second + 1;
}

// A step of an instruction; what is around it is left open.
profile::ProgramStep step_of(const tile::Program& program, const tile::Instruction& i, const ProgramRows& rows) {
  profile::ProgramStep step{i.order, {}, kind_of(program, i), 0};
  const tile::StepRow& row = tile::row_of(i.op);
  if (row.work == tile::Work::compute) {
    const ComputeSetId id = program.computes[i.a].compute_set;
    step.compute_set = row_in(rows.compute_sets, id);
    step.exchange = row_in(rows.bound, id);
  }
  if (row.a == tile::Names::exchange && rows.has_exchanges) step.exchange = i.a + 1;
  return step;
}

class ProgramTree {
 public:
  ProgramTree(const tile::Program& program, const ProgramRows& rows) : program_(program), rows_(rows) {}

  void add(const tile::Stream& stream) {
    code_ = &stream.code;
    functions_.clear();
    for (const tile::Instruction& i : stream.code)
      if (flow_of(i) == tile::Flow::call) functions_.emplace(i.target, i.a);
    read(0, static_cast<std::uint32_t>(code_->size()));
  }

  std::vector<profile::ProgramStep> rows(std::vector<tile::NameId>& names) {
    std::vector<profile::ProgramStep> out;
    for (auto& [key, f] : found_) {
      f.index = static_cast<std::uint32_t>(out.size());
      if (f.around && *f.around < key) f.step.inside = found_.at(*f.around).index + 1;
      out.push_back(f.step);
      names.push_back(f.name);
    }
    for (const auto& [key, f] : found_)
      if (const auto function = f.calls ? function_rows_.find(*f.calls) : function_rows_.end(); function != function_rows_.end())
        out[f.index].calls = found_.at(function->second).index + 1;
    return out;
  }

 private:
  // Order, and how deep it stands: what stands around a step of the same order comes before it.
  using Key = std::pair<std::uint32_t, std::uint32_t>;
  static constexpr std::uint32_t kStep = std::numeric_limits<std::uint32_t>::max();
  struct Found {
    profile::ProgramStep step;
    std::optional<Key> around;
    tile::NameId name;
    std::optional<std::uint32_t> calls;  // a function
    std::uint32_t index = 0;
  };

  Found& row(const Key& key, const profile::ProgramStep& step, tile::NameId name) {
    const auto [it, is_new] = found_.try_emplace(key);
    Found& f = it->second;
    if (is_new) {
      f.step = step;
      if (!around_.empty()) f.around = around_.back();
    }
    if (!f.name.valid()) f.name = name;
    if (f.step.name.empty()) f.step.name = name_at(program_, name);
    return f;
  }

  // The key of a row that stands around the instructions from `begin` on.
  Key outer(std::uint32_t order) const { return {order, static_cast<std::uint32_t>(around_.size())}; }

  void read(std::uint32_t begin, std::uint32_t end) {
    std::uint32_t at = begin;
    while (at < end) {
      const tile::Instruction& i = (*code_)[at];
      if (const auto function = functions_.find(at); function != functions_.end() && !in_function_) {
        at = read_function(at, end, function->second);
      } else if (begins_loop(flow_of(i))) {
        at = read_loop(at, end);
      } else if (flow_of(i) == tile::Flow::branch && is_choice(at, end)) {
        at = read_choice(at, end);
      } else {
        if (flow_of(i) == tile::Flow::call)
          row({i.order, kStep}, {i.order, {}, "call", 0}, i.name).calls = i.a;
        else if (tile::row_of(i.op).is_memory_step)
          row({i.order, kStep}, step_of(program_, i, rows_), i.name);
        ++at;
      }
    }
  }

  // The instructions [begin, end) stand in a row of this kind.
  void read_inside(const Key& key, std::uint32_t begin, std::uint32_t end) {
    around_.push_back(key);
    read(begin, end);
    around_.pop_back();
  }

  std::uint32_t read_function(std::uint32_t begin, std::uint32_t end, std::uint32_t function) {
    std::uint32_t last = begin;
    while (last + 1 < end && flow_of((*code_)[last]) != tile::Flow::give_back) ++last;
    const Key key = outer((*code_)[begin].order);
    Found& f = row(key, {key.first, {}, "function", 0}, {});
    if (f.step.name.empty()) f.step.name = function < program_.functions.size() ? program_.functions[function] : "";
    function_rows_.emplace(function, key);
    in_function_ = true;
    read_inside(key, begin, last);
    in_function_ = false;
    return last + 1;
  }

  std::uint32_t read_loop(std::uint32_t begin, std::uint32_t end) {
    const auto ends = [](tile::Flow flow) { return flow == tile::Flow::repeat_end || flow == tile::Flow::loop_end; };
    std::uint32_t last = begin + 1;
    for (int depth = 1; last < end; ++last) {
      const tile::Flow flow = flow_of((*code_)[last]);
      depth += begins_loop(flow) ? 1 : ends(flow) ? -1 : 0;
      if (depth == 0) break;
    }
    const Key key = outer((*code_)[begin].order);
    row(key, {key.first, {}, "loop", 0}, (*code_)[begin].name);
    read_inside(key, begin + 1, last);
    return std::min(last + 1, end);
  }

  // An If or a Switch: before the way of its first test lies the way out of the others. A loop's test leaves the loop.
  bool is_choice(std::uint32_t at, std::uint32_t end) const {
    const std::uint32_t target = (*code_)[at].target;
    return target > at + 1 && target <= end && flow_of((*code_)[target - 1]) == tile::Flow::jump && (*code_)[target - 1].target >= target &&
           (*code_)[target - 1].target <= end;
  }

  // The tests of a choice follow each other and look at one place; then comes the way of no test, then the others in their order.
  std::uint32_t read_choice(std::uint32_t begin, std::uint32_t end) {
    const tile::Instruction& first = (*code_)[begin];
    const bool is_if = first.op == tile::Op::branch_true || first.op == tile::Op::branch_false;
    std::uint32_t tests = begin + 1;
    while (!is_if && tests < end && (*code_)[tests].op == first.op && (*code_)[tests].b == first.b) ++tests;
    const std::uint32_t out = (*code_)[first.target - 1].target;
    const Key key = outer(first.order);
    row(key, {first.order, {}, is_if ? "if" : "switch", 0}, first.name);
    around_.push_back(key);
    read_case(tests, first.target - 1, is_if ? "false" : "default");
    for (std::uint32_t test = begin; test < tests; ++test) {
      const std::uint32_t to = (*code_)[test].target, next = test + 1 < tests ? (*code_)[test + 1].target - 1 : out;
      read_case(to, next, is_if ? "true" : std::to_string(static_cast<std::int32_t>((*code_)[test].count)));
    }
    around_.pop_back();
    return out;
  }

  // A way of a choice. One without instructions has no row.
  void read_case(std::uint32_t begin, std::uint32_t end, const std::string& name) {
    if (begin >= end || end > code_->size()) return;
    const Key key = outer((*code_)[begin].order);
    row(key, {key.first, name, "case", 0}, {});
    read_inside(key, begin, end);
  }

  const tile::Program& program_;
  const ProgramRows& rows_;
  const Instructions* code_ = nullptr;
  std::map<std::uint32_t, std::uint32_t> functions_;  // where they begin in this stream
  std::map<Key, Found> found_;
  std::map<std::uint32_t, Key> function_rows_;
  std::vector<Key> around_;
  bool in_function_ = false;
};

}  // namespace

std::string name_at(const tile::Program& program, tile::NameId name) {
  return name.valid() && name.index() < program.names.size() ? program.names[name.index()] : std::string();
}

std::vector<profile::ProgramStep> program_of(const tile::Program& program, const ProgramRows& rows, std::vector<tile::NameId>& names) {
  ProgramTree tree(program, rows);
  for (const tile::Stream& stream : program.streams) tree.add(stream);
  return tree.rows(names);
}

}  // namespace pando::cycles
