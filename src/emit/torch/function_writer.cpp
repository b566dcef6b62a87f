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

// A value belongs to one graph; a place counts if it is that value's.
std::uint32_t FunctionWriter::place_of(ValueId v) {
  std::uint32_t& at = program_.places()[v.index()];
  if (at < known_.size() && known_[at].value == v) return at;
  at = static_cast<std::uint32_t>(known_.size());
  known_.push_back({.value = v, .last = 0, .made = kEnd, .parent = at});
  return at;
}

const FunctionWriter::Known* FunctionWriter::find(ValueId v) const {
  const std::uint32_t at = program_.places()[v.index()];
  return at < known_.size() && known_[at].value == v ? &known_[at] : nullptr;
}

void FunctionWriter::find_uses(std::span<const ValueId> keep) {
  for (std::uint32_t i = 0; i < steps_.size(); ++i) {
    const auto reads = [&](ValueId v) {
      Known& k = of(v);
      k.last = i, k.has_last = true;
    };
    for (ValueId v : steps_[i].reads) reads(v);
    const TorchRow* row = find_torch_row(m_.op(steps_[i].op).kind);
    for (ValueId v : steps_[i].writes) {
      Known& k = of(v);
      k.made = i;
      if (!k.has_last) reads(v);
      if (row && row->shares && steps_[i].kind == StepKind::local) {
        for (ValueId x : steps_[i].reads) unite(v, x);
      }
    }
    if (m_.op(steps_[i].op).graph_count != 0) find_shared(steps_[i]);
  }
  for (ValueId v : keep) {
    Known& k = of(v);
    k.last = kEnd, k.has_last = true;
  }
  for (std::uint32_t i = 0; i < known_.size(); ++i) {
    const Known& k = known_[i];
    if (!k.has_last) continue;
    std::uint32_t& of_class = known_[root_of(i)].class_last;
    of_class = std::max(of_class, k.last);
    if (k.last < steps_.size()) dropped_at_[k.last].push_back(k.value);
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

std::uint32_t FunctionWriter::root_of(std::uint32_t place) {
  std::uint32_t r = place;
  while (known_[r].parent != r) r = known_[r].parent;
  while (place != r) {
    const std::uint32_t up = known_[place].parent;
    known_[place].parent = r;
    place = up;
  }
  return r;
}

void FunctionWriter::unite(ValueId with, ValueId of) {
  const std::uint32_t a = root(with), b = root(of);
  if (a != b) known_[a].parent = b;
}

void FunctionWriter::name(ValueId v, std::string text) {
  Known& k = of(v);
  k.given = std::move(text);
  k.has_given = true;
}

const std::string& FunctionWriter::text_of(ValueId v) const {
  const Known* k = find(v);
  PANDO_CHECK(k && !k->name.empty());
  return k->name;
}

void FunctionWriter::give(ValueId v, std::string text, bool overwritable, bool is_local) {
  if (overwritable) {
    of(v).is_owned = true;
  } else {
    Known& r = known_[root(v)];
    r.is_locked = r.is_foreign = true;
  }
  if (is_local) of(v).is_local = true;
  of(v).name = std::move(text);
}

std::uint32_t FunctionWriter::made_at(ValueId v) const {
  const Known* k = find(v);
  return k ? k->made : kEnd;
}

std::uint32_t FunctionWriter::last_read(ValueId v) const {
  const Known* k = find(v);
  return k ? k->last : 0;
}

std::string FunctionWriter::new_local(std::string_view wanted) {
  return program_.canonical() ? fmt::format("n{}", numbers_++) : py_identifier(wanted, taken_);
}

std::vector<std::string> FunctionWriter::targets(const DeviceStep& step, std::uint32_t at) {
  std::vector<std::string> out;
  out.reserve(step.writes.size());
  for (ValueId v : step.writes) {
    Known& k = of(v);
    if (k.has_given) {
      k.name = k.given;
    } else if (k.last == at && !k.is_wanted) {
      k.name = "_";
    } else {
      k.name = new_local(m_.name_of(v));
      k.is_local = true;
    }
    out.push_back(k.name);
  }
  return out;
}

bool FunctionWriter::may_overwrite(const DeviceStep& step, std::uint32_t at) {
  if (step.reads.empty() || step.writes.empty()) return false;
  const ValueId x = step.reads[0], y = step.writes[0];
  const Type &from = m_.type_of(x), &to = m_.type_of(y);
  const std::uint32_t r = root(x);
  if (!of(x).is_owned || known_[r].is_locked || known_[r].class_last > at || from.shape != to.shape || from.dtype != to.dtype) return false;
  for (std::size_t i = 1; i < step.reads.size(); ++i) {
    if (root(step.reads[i]) == r) return false;
  }
  return true;
}

void FunctionWriter::drop(std::uint32_t at, std::string& out, int indent) {
  std::string names;
  for (ValueId v : dropped_at_[at]) {
    const Known& k = of(v);
    if (!k.is_local) continue;
    if (!names.empty()) names += ", ";
    names += k.name;
  }
  if (names.empty()) return;
  out.append(static_cast<std::size_t>(indent), ' ');
  out += "del ";
  out += names;
  out += '\n';
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
      for (ValueId v : step.writes) of(v).is_owned = true;
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
          const std::uint32_t last = known_[root(v)].class_last;
          unite(v, step.reads[k]);
          std::uint32_t& of_class = known_[root(v)].class_last;
          of_class = std::max(of_class, last);
        }
        if (in_place || !(torch && torch->shares)) of(v).is_owned = true;
        if (!has(row.effects, Effects::stream)) continue;
        Known& r = known_[root(v)];
        r.is_locked = r.is_foreign = true;
      }
    }
    if (behind) behind(i, out);
    drop(i, out, indent);
  }
}

}  // namespace pando::emit
