#include "ranks/timeline/recorder.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "profile/report.h"

namespace pando::ranks {

namespace {

bool same_steps(const DeviceTimeline& a, const DeviceTimeline& b) {
  const auto same = [](const DoneStep& x, const DoneStep& y) { return x.order == y.order && x.stream == y.stream; };
  return a.steps.size() == b.steps.size() && a.messages.size() == b.messages.size() &&
         std::equal(a.steps.begin(), a.steps.end(), b.steps.begin(), same);
}

}  // namespace

std::uint32_t Recorder::text(std::string_view what) {
  const auto it = ids_.find(what);
  if (it != ids_.end()) return it->second;
  const auto id = static_cast<std::uint32_t>(texts_.size());
  texts_.emplace_back(what);
  ids_.emplace(what, id);
  return id;
}

// What the step of the run that has ended did.
void Recorder::keep() {
  if (!running_) return;
  if (!std::exchange(has_first_, true)) {
    first_ = std::move(now_);
  } else if (same_steps(first_, now_)) {
    for (std::size_t i = 0; i < first_.steps.size(); ++i) {
      first_.steps[i].host_begin = now_.steps[i].host_begin;
      first_.steps[i].host_end = now_.steps[i].host_end;
    }
    for (std::size_t i = 0; i < first_.messages.size(); ++i) {
      first_.messages[i].host_begin = now_.messages[i].host_begin;
      first_.messages[i].host_end = now_.messages[i].host_end;
    }
  }
  now_ = {};
}

void Recorder::begin() {
  const std::lock_guard lock(mutex_);
  keep();
  running_ = true;
  begun_ = now();
  last_.clear(), open_.clear();
  for (auto& n : numbers_) n.clear();
}

void Recorder::end() {
  const std::lock_guard lock(mutex_);
  keep();
  running_ = false;
}

void Recorder::done(const StepDone& step) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t took = step.cycles - std::exchange(cycles_[step.stream], step.cycles);
  if (!running_) return;
  const std::int64_t time = now();
  const auto [last, is_first] = last_.emplace(step.stream, begun_);
  const std::int64_t begin = std::exchange(last->second, time);
  if (now_.steps.size() == most_) {
    ++now_.steps_lost;
    open_.clear();
    return;
  }
  for (DoneMessage& m : open_) {
    m.step = static_cast<std::uint32_t>(now_.steps.size());
    now_.messages.push_back(m);
  }
  open_.clear();
  now_.steps.push_back(
      {text({step.name.data(), step.name.size()}), text({step.kind.data(), step.kind.size()}), step.order, step.stream, took, begin, time});
}

void Recorder::message(std::uint32_t channel, bool sends, std::int64_t host_begin) {
  const std::lock_guard lock(mutex_);
  if (running_) open_.push_back({channel, 0, numbers_[sends ? 1 : 0][channel]++, sends, host_begin, now()});
}

DeviceTimeline Recorder::take() {
  const std::lock_guard lock(mutex_);
  DeviceTimeline t = std::move(first_);
  t.texts = std::move(texts_);
  return t;
}

void Recorder::add_memory(DeviceTimeline& timeline, const std::string& report_file) {
  std::ifstream in(report_file, std::ios::binary);
  if (!in.is_open()) return;
  const profile::Report report = profile::read_report({std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()});
  timeline.clock_hz = report.target.clock_hz;
  timeline.bytes_limit = static_cast<double>(report.target.bytes_per_tile) * report.target.tiles;
  for (const profile::StreamLiveness& s : report.liveness) timeline.always_live += s.always_live_bytes;
  for (std::size_t i = 0; i < report.liveness.size(); ++i)
    for (const profile::LiveStep& s : report.liveness[i].steps)
      timeline.used.push_back({static_cast<std::uint32_t>(i), s.order, timeline.always_live + s.live_bytes});
  for (const profile::CategoryBytes& c : report.categories) timeline.memory.emplace_back(c.category, c.bytes);
}

}  // namespace pando::ranks
