#include "emit/torch/function_writer.h"

#include "base/check.h"
#include "emit/torch/python_text.h"
#include "ir/op_row.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

namespace pando::emit {

using namespace ir;

namespace {

constexpr std::uint32_t kEnd = std::numeric_limits<std::uint32_t>::max();

}  // namespace

FunctionWriter::FunctionWriter(ProgramWriter& program, std::string name, std::span<const DeviceStep> steps, std::span<const ValueId> keep)
    : program_(program), m_(program.module()), name_(std::move(name)), steps_(steps), dropped_at_(steps.size()) {
  if (!program_.canonical()) taken_ = program_.reserved();
  find_uses(keep);
}

void FunctionWriter::find_uses(std::span<const ValueId> keep) {
  for (std::uint32_t i = 0; i < steps_.size(); ++i) {
    for (ValueId v : steps_[i].reads) last_[v.value] = i;
    for (ValueId v : steps_[i].writes) {
      made_[v.value] = i;
      last_.try_emplace(v.value, i);
      if (const TorchRow* row = find_torch_row(m_.op(steps_[i].op).kind); row && row->shares && steps_[i].kind == StepKind::local) {
        for (ValueId x : steps_[i].reads) unite(v, x);
      }
    }
    if (m_.op(steps_[i].op).graph_count != 0) find_shared(steps_[i]);
  }
  for (ValueId v : keep) last_[v.value] = kEnd;
  for (const auto& [v, last] : last_) {
    auto& of_class = class_last_[root(ValueId(v))];
    of_class = std::max(of_class, last);
    if (last != kEnd && last < steps_.size()) dropped_at_[last].emplace_back(v);
  }
  for (auto& values : dropped_at_) std::sort(values.begin(), values.end());
}

// A graph may give back what it was given.
void FunctionWriter::find_shared(const DeviceStep& step) {
  const OpRow& row = m_.row(step.op);
  const auto graphs = m_.graphs(step.op);
  std::size_t first = row.control == Control::branch ? 1 : 0;
  for (GraphId g : graphs) {
    const auto& shared = program_.shared_inputs(g);
    const std::size_t outputs = m_.graph(g).outputs.size();
    const Ints& modified = m_.attributes(step.op).ints("modified");
    for (std::size_t r = 0; r < step.writes.size(); ++r) {
      const std::size_t of = r < outputs ? r : outputs + static_cast<std::size_t>(modified[r - outputs]);
      for (const std::size_t input : shared[of]) unite(step.writes[r], step.reads[first + input]);
      // What a loop carries is what came in, where it runs no trip; and what another trip made.
      if (row.control == Control::repeat)
        unite(step.writes[r], step.reads[r < outputs ? r : static_cast<std::size_t>(modified[r - outputs])]);
    }
    first += m_.graph(g).inputs.size();
  }
}

std::uint32_t FunctionWriter::root(ValueId v) {
  std::uint32_t r = v.value;
  for (auto it = parent_.find(r); it != parent_.end(); it = parent_.find(r)) r = it->second;
  for (std::uint32_t at = v.value; at != r;) {
    std::uint32_t& up = parent_.at(at);
    at = up;
    up = r;
  }
  return r;
}

void FunctionWriter::unite(ValueId with, ValueId of) {
  const std::uint32_t a = root(with), b = root(of);
  if (a != b) parent_[a] = b;
}

void FunctionWriter::give(ValueId v, std::string text, bool overwritable, bool is_local) {
  if (overwritable) {
    owned_.insert(v.value);
  } else {
    locked_.insert(root(v));
    foreign_.insert(root(v));
  }
  if (is_local) locals_.insert(v.value);
  names_[v.value] = std::move(text);
}

std::uint32_t FunctionWriter::made_at(ValueId v) const {
  const auto it = made_.find(v.value);
  return it == made_.end() ? kEnd : it->second;
}

std::uint32_t FunctionWriter::last_read(ValueId v) const {
  const auto it = last_.find(v.value);
  return it == last_.end() ? 0 : it->second;
}

std::string FunctionWriter::new_local(std::string_view wanted) {
  return program_.canonical() ? fmt::format("n{}", numbers_++) : py_identifier(wanted, taken_);
}

std::vector<std::string> FunctionWriter::targets(const DeviceStep& step, std::uint32_t at) {
  std::vector<std::string> out;
  for (ValueId v : step.writes) {
    const auto given = given_.find(v.value);
    if (given != given_.end()) {
      names_[v.value] = given->second;
    } else if (last_read(v) == at && !wanted_.contains(v.value)) {
      names_[v.value] = "_";
    } else {
      names_[v.value] = new_local(m_.name_of(v));
      locals_.insert(v.value);
    }
    out.push_back(names_[v.value]);
  }
  return out;
}

bool FunctionWriter::may_overwrite(const DeviceStep& step, std::uint32_t at) {
  if (step.reads.empty() || step.writes.empty()) return false;
  const ValueId x = step.reads[0], y = step.writes[0];
  const Type &from = m_.type_of(x), &to = m_.type_of(y);
  const std::uint32_t r = root(x);
  if (!owned_.contains(x.value) || locked_.contains(r) || class_last_[r] > at || from.shape != to.shape || from.dtype != to.dtype)
    return false;
  for (std::size_t i = 1; i < step.reads.size(); ++i) {
    if (root(step.reads[i]) == r) return false;
  }
  return true;
}

void FunctionWriter::drop(std::uint32_t at, std::string& out, int indent) {
  std::string names;
  for (ValueId v : dropped_at_[at]) {
    if (!locals_.contains(v.value)) continue;
    const std::string& name = names_.at(v.value);
    names += (names.empty() ? "" : ", ") + name;
  }
  if (!names.empty()) out += fmt::format("{}del {}\n", std::string(static_cast<std::size_t>(indent), ' '), names);
}

void FunctionWriter::write(std::string& out, int indent, const Transfer& transfer,
                           const std::function<void(std::uint32_t, std::string&)>& behind) {
  for (std::uint32_t i = 0; i < steps_.size(); ++i) {
    at_ = i;
    const DeviceStep& step = steps_[i];
    const OpRow& row = m_.row(step.op);
    if (row.constant) {
      give(step.writes[0], program_.constant(step.op), false, false);
    } else if (step.kind != StepKind::local) {
      transfer(step, out);
      for (ValueId v : step.writes) owned_.insert(v.value);
    } else {
      std::vector<std::string> operands;
      for (ValueId v : step.reads) operands.push_back(text_of(v));
      const TorchRow* torch = find_torch_row(m_.op(step.op).kind);
      bool in_place = torch && !torch->in_place.empty() && (!new_versions(m_, step.op).empty() || m_.op(step.op).in_place);
      if (in_place && row.bundles) {
        for (std::size_t k = 0; k < step.writes.size() && in_place; ++k) {
          const DeviceStep one{step.op, step.kind, {step.reads[k], step.reads[step.writes.size() + k]}, {step.writes[k]}};
          in_place = may_overwrite(one, i);
        }
      } else if (in_place) {
        in_place = may_overwrite(step, i);
      }
      const std::vector<std::string> names = targets(step, i);
      program_.write(step.op, operands, names, in_place, out, indent, name_);
      for (std::size_t k = 0; k < step.writes.size(); ++k) {
        const ValueId v = step.writes[k];
        if (in_place) {
          const std::uint32_t last = class_last_[root(v)];
          unite(v, step.reads[k]);
          auto& of_class = class_last_[root(v)];
          of_class = std::max(of_class, last);
        }
        if (in_place || !(torch && torch->shares)) owned_.insert(v.value);
        if (!has(row.effects, Effects::stream)) continue;
        locked_.insert(root(v));
        foreign_.insert(root(v));
      }
    }
    if (behind) behind(i, out);
    drop(i, out, indent);
  }
}

}  // namespace pando::emit
