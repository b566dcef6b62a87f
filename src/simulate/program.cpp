#include "simulate/program.h"

#include "base/check.h"

#include <algorithm>
#include <map>
#include <set>

namespace pando::simulate {

std::string_view name_of(MemoryKind k) {
  constexpr std::string_view names[kMemoryKinds] = {"weights", "gradients", "optimizer", "activations", "workspace", "buffers"};
  return names[static_cast<std::size_t>(k)];
}

std::uint32_t Body::device(BodyDevice d) {
  // Bodies of one or two devices are the rule; the last one that was asked for is the likeliest.
  for (std::size_t i = devices.size(); i-- > 0;) {
    if (devices[i] == d) return static_cast<std::uint32_t>(i);
  }
  devices.push_back(d);
  return static_cast<std::uint32_t>(devices.size() - 1);
}

std::uint32_t Program::label(std::string_view text) {
  const auto [at, added] = label_ids_.try_emplace(std::string(text), static_cast<std::uint32_t>(labels_.size()));
  if (added) labels_.emplace_back(text);
  return at->second;
}

std::int32_t Program::devices() const {
  std::int32_t most = 0;
  for (const Body& b : bodies) {
    for (const BodyDevice& d : b.devices) {
      if (!d.is_variable) most = std::max(most, d.number + 1);
    }
  }
  return most;
}

std::vector<std::int32_t> Program::used_devices() const {
  std::set<std::int32_t> used;
  for (const Body& b : bodies) {
    for (const BodyDevice& d : b.devices) {
      if (!d.is_variable) used.insert(d.number);
    }
  }
  return {used.begin(), used.end()};
}

namespace {

void count(const Program& p, std::uint32_t body, std::int64_t times, std::vector<std::int64_t>& by_label) {
  for (const Step& s : p.bodies[body].steps) {
    if (s.kind == StepKind::call)
      count(p, s.body, times * s.trips, by_label);
    else
      by_label[s.label] += times;
  }
}

}  // namespace

std::int64_t Program::unfolded_steps() const {
  std::vector<std::int64_t> by_label(labels_.size(), 0);
  if (!bodies.empty()) count(*this, 0, 1, by_label);
  std::int64_t sum = 0;
  for (std::int64_t n : by_label) sum += n;
  return sum;
}

std::vector<std::pair<std::string, std::int64_t>> Program::histogram() const {
  std::vector<std::int64_t> by_label(labels_.size(), 0);
  if (!bodies.empty()) count(*this, 0, 1, by_label);
  std::map<std::string, std::int64_t> sorted;
  for (std::size_t i = 0; i < by_label.size(); ++i) {
    if (by_label[i] > 0) sorted[labels_[i]] = by_label[i];
  }
  return {sorted.begin(), sorted.end()};
}

SlotId BodyWriter::slot(std::int64_t bytes, std::uint32_t device, MemoryKind kind) {
  body_.slots.push_back({bytes, device, 0, kind, false, false, false});
  return static_cast<SlotId>(body_.slots.size() - 1);
}

SlotId BodyWriter::input(std::int64_t bytes, std::uint32_t device, MemoryKind kind) {
  const SlotId s = slot(bytes, device, kind);
  body_.slots[s].given = true;
  body_.inputs.push_back(s);
  return s;
}

Step& BodyWriter::append(StepKind kind, std::uint32_t label, std::span<const SlotId> operands, std::span<const SlotId> results) {
  Step s;
  s.kind = kind;
  s.label = label;
  s.operand_begin = static_cast<std::uint32_t>(body_.operands.size());
  s.operand_count = static_cast<std::uint32_t>(operands.size());
  s.result_begin = static_cast<std::uint32_t>(body_.results.size());
  s.result_count = static_cast<std::uint32_t>(results.size());
  s.device_begin = static_cast<std::uint32_t>(body_.step_devices.size());
  body_.operands.insert(body_.operands.end(), operands.begin(), operands.end());
  body_.results.insert(body_.results.end(), results.begin(), results.end());
  for (SlotId o : operands) ++body_.slots[o].uses;
  body_.steps.push_back(s);
  return body_.steps.back();
}

Step& BodyWriter::step(StepKind kind, std::uint32_t label, double seconds, std::span<const SlotId> operands,
                       std::span<const SlotId> results) {
  Step& s = append(kind, label, operands, results);
  s.seconds = seconds;
  const auto add = [&](SlotId slot) {
    const std::uint32_t d = body_.slots[slot].device;
    const auto begin = body_.step_devices.begin() + s.device_begin;
    if (std::find(begin, body_.step_devices.end(), d) == body_.step_devices.end()) body_.step_devices.push_back(d);
  };
  for (SlotId o : operands) add(o);
  for (SlotId r : results) add(r);
  s.device_count = static_cast<std::uint32_t>(body_.step_devices.size()) - s.device_begin;
  return s;
}

Step& BodyWriter::call(std::uint32_t callee, std::uint32_t label, std::int64_t trips, std::span<const SlotId> operands,
                       std::span<const SlotId> results, std::span<const std::uint32_t> devices) {
  Step& s = append(StepKind::call, label, operands, results);
  s.body = callee;
  s.trips = trips;
  body_.step_devices.insert(body_.step_devices.end(), devices.begin(), devices.end());
  s.device_count = static_cast<std::uint32_t>(devices.size());
  return s;
}

void BodyWriter::output(SlotId s, std::int32_t carried) {
  PANDO_CHECK(s < body_.slots.size());
  body_.outputs.push_back(s);
  body_.carried.push_back(carried);
  body_.own_outputs = body_.outputs.size();
  body_.slots[s].kept = true;
}

}  // namespace pando::simulate
