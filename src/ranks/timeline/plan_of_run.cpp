#include "ranks/timeline/plan_of_run.h"

#include "ranks/timeline/phases.h"
#include "ranks/timeline/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

namespace pando::ranks {

using profile::DevicePlan;

namespace {

double seconds_of(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

class RunPlan {
 public:
  RunPlan(const RunFacts& facts, const std::vector<DeviceTimeline>& timelines, DevicePlan& plan)
      : facts_(facts), timelines_(timelines), plan_(plan), name_(plan), times_(replay(timelines, facts.channels)) {
    for (const DeviceTimeline& t : timelines)
      for (const DoneStep& s : t.steps) begin_ = std::min(begin_, s.host_begin);
  }

  void fill() {
    add_devices();
    for (std::size_t d = 0; d < timelines_.size(); ++d) add_steps(d);
    add_messages();
    add_values();
  }

 private:
  void add_devices() {
    for (const DeviceTimeline& t : timelines_)
      for (const auto& [category, bytes] : t.memory)
        if (std::find(plan_.kinds.begin(), plan_.kinds.end(), category) == plan_.kinds.end()) plan_.kinds.push_back(category);
    for (const DeviceTimeline& t : timelines_) {
      profile::PlanDevice& device = plan_.devices.emplace_back();
      device.name = fmt::format("device {}", t.device);
      device.memory.assign(plan_.kinds.size(), 0);
      for (const auto& [category, bytes] : t.memory) {
        const auto k = std::find(plan_.kinds.begin(), plan_.kinds.end(), category) - plan_.kinds.begin();
        device.memory[static_cast<std::size_t>(k)] = static_cast<double>(bytes);
      }
      plan_.memory_limit = std::max(plan_.memory_limit, t.bytes_limit);
    }
  }

  std::uint32_t kind(const std::string& what) {
    const auto it = std::find(plan_.event_kinds.begin(), plan_.event_kinds.end(), what);
    if (it != plan_.event_kinds.end()) return static_cast<std::uint32_t>(it - plan_.event_kinds.begin());
    plan_.event_kinds.push_back(what);
    return static_cast<std::uint32_t>(plan_.event_kinds.size() - 1);
  }

  // The phase of a step that computes: of the innermost name of its debug path that is a value's.
  std::string phase(std::size_t d, std::string_view name) const {
    const auto& phases = facts_.phases[d];
    for (;;) {
      const std::size_t slash = name.rfind('/');
      const auto it = phases.find(std::string(slash == std::string_view::npos ? name : name.substr(slash + 1)));
      if (it != phases.end()) return it->second;
      if (slash == std::string_view::npos) return "compute";
      name = name.substr(0, slash);
    }
  }

  void add_steps(std::size_t d) {
    const DeviceTimeline& t = timelines_[d];
    std::map<std::size_t, const DoneMessage*> message;
    for (const DoneMessage& m : t.messages) message.emplace(m.step, &m);
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> used;
    for (const UsedMemory& u : t.used) used[{u.stream, u.order}] = u.bytes;
    std::map<std::uint32_t, std::uint64_t> bytes;
    profile::PlanDevice& device = plan_.devices[d];
    plan_.events_lost += t.steps_lost;
    for (std::size_t i = 0; i < t.steps.size(); ++i) {
      const DoneStep& s = t.steps[i];
      const auto m = message.find(i);
      const std::string& what = t.texts[s.kind];
      const bool transfer = m != message.end() || (what != "compute" && what != "exchange");
      profile::PlanEvent e{static_cast<std::uint32_t>(d), 0, transfer};
      std::string name = t.texts[s.name];
      if (m != message.end()) {
        const exec::Channel& c = facts_.channels[m->second->channel];
        name = fmt::format("{} '{}'", m->second->sends ? "send" : "receive", c.name);
        e.kind = kind(m->second->sends ? "send" : "receive");
      } else {
        e.kind = kind(what == "compute" ? phase(d, name) : what);
      }
      e.name = name_(name.empty() ? what : name);
      e.begin = times_[d][i].begin, e.seconds = times_[d][i].end - times_[d][i].begin;
      if (const auto u = used.find({s.stream, s.order}); u != used.end()) bytes[s.stream] = u->second;
      e.bytes = static_cast<double>(bytes.emplace(s.stream, t.always_live).first->second);
      e.host_begin = seconds_of(s.host_begin - begin_), e.host_seconds = seconds_of(s.host_end - s.host_begin);
      (transfer ? device.transferring : device.computing) += e.seconds;
      device.end = std::max(device.end, times_[d][i].end);
      plan_.seconds = std::max(plan_.seconds, device.end);
      profile::add_event(plan_, e);
    }
  }

  void add_messages() {
    struct End {
      std::size_t device = 0;
      const DoneMessage* message = nullptr;
    };
    std::map<std::pair<std::uint32_t, std::uint64_t>, std::pair<End, End>> all;
    for (std::size_t d = 0; d < timelines_.size(); ++d)
      for (const DoneMessage& m : timelines_[d].messages) {
        auto& ends = all[{m.channel, m.number}];
        (m.sends ? ends.first : ends.second) = {d, &m};
      }
    std::vector<profile::PlanMessage> found;
    for (const auto& [key, ends] : all) {
      const auto& [from, to] = ends;
      if (!from.message || !to.message) continue;
      const exec::Channel& c = facts_.channels[key.first];
      found.push_back({static_cast<std::uint32_t>(from.device), static_cast<std::uint32_t>(to.device), name_(c.name), c.bytes,
                       times_[from.device][from.message->step].begin, times_[to.device][to.message->step].end,
                       seconds_of(from.message->host_begin - begin_), seconds_of(to.message->host_end - begin_)});
    }
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.sent < b.sent; });
    for (const profile::PlanMessage& m : found) profile::add_message(plan_, m);
  }

  void add_values() {
    const auto same = [](const profile::PlanValue& v, const RunFacts::Variable& x) {
      return v.name == x.name && v.shape == x.shape && v.bytes == x.bytes;
    };
    std::map<std::string, std::size_t> last;
    for (std::size_t p = 0; p < facts_.variables.size(); ++p)
      for (const RunFacts::Variable& x : facts_.variables[p]) {
        const auto it = last.find(x.name);
        if (it != last.end() && same(plan_.values[it->second], x)) {
          plan_.values[it->second].devices.push_back(static_cast<std::uint32_t>(p));
          continue;
        }
        last[x.name] = plan_.values.size();
        plan_.values.push_back({x.name, x.slots ? "slots of a channel" : "variable", x.shape, x.bytes, {static_cast<std::uint32_t>(p)}});
      }
    std::stable_sort(plan_.values.begin(), plan_.values.end(), [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  }

  const RunFacts& facts_;
  const std::vector<DeviceTimeline>& timelines_;
  DevicePlan& plan_;
  profile::PlanNames name_;
  std::vector<std::vector<ReplayedStep>> times_;
  std::int64_t begin_ = std::numeric_limits<std::int64_t>::max();
};

}  // namespace

RunFacts facts_of(const split::Program& program) {
  RunFacts facts;
  facts.channels = program.channels;
  facts.phases = phases_of(program);
  for (const split::Part& part : program.parts) {
    facts.devices.push_back(part.device);
    auto& variables = facts.variables.emplace_back();
    for (std::size_t i = 0; i < part.module.state_count(); ++i) {
      const ir::State& s = part.module.state(ir::StateId(static_cast<ir::StateId::rep>(i)));
      const ir::Type& t = part.module.type(s.type);
      const double bytes = static_cast<double>(ir::elements_of(t.shape)) * static_cast<double>(ir::size_of(t.dtype));
      variables.push_back({s.name, fmt::format("{}({})", ir::name_of(t.dtype), fmt::join(t.shape, ", ")), bytes, split::is_slots(s.name)});
    }
  }
  return facts;
}

profile::DevicePlan plan_of_run(const RunFacts& facts, const std::vector<DeviceTimeline>& timelines, const std::string& machine) {
  DevicePlan plan;
  plan.machine = machine;
  plan.title = fmt::format("a step of a run on {} devices of {}", timelines.size(), machine);
  RunPlan(facts, timelines, plan).fill();
  const double all = plan.seconds * static_cast<double>(timelines.size());
  double computing = 0;
  for (const profile::PlanDevice& d : plan.devices) computing += d.computing;
  plan.text =
      fmt::format("{} steps and {} messages of the first step of the run, by the machine's clock; host times are those of the last step\n",
                  plan.events.size() + plan.events_lost, plan.messages.size() + plan.messages_lost);
  if (all > 0)
    plan.text += fmt::format("the devices compute and exchange {:.1f} % of the time; the rest is messages, the host, and bubbles\n",
                             100 * computing / all);
  return plan;
}

}  // namespace pando::ranks
