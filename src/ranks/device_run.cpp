#include "ranks/device_run.h"

#include "ir/error.h"
#include "profile/plan/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>

namespace pando::ranks {

using namespace ir;

DeviceRun::DeviceRun(Part part, std::size_t place, std::size_t devices, exec::Channels& channels, Board& board)
    : part_(std::move(part)), place_(place), devices_(devices), several_(devices > 1), channels_(channels), board_(board) {}

void DeviceRun::prepare(const Data& data, const Options& options) {
  Module& m = part_.module;
  for (std::size_t i = 0; i < m.state_count(); ++i) {
    State& s = m.state(StateId(static_cast<StateId::rep>(i)));
    const Type& t = m.type(s.type);
    if (is_slots(s.name)) continue;
    std::optional<HostTensor> given = data.variable(s.name, t.dtype, t.shape);
    if (given) {
      s.data = m.add_blob(std::move(*given));
    } else if (!s.data.valid()) {
      reject(ErrorClass::value, "variable-without-data",
             "variable '{}' of device {} has no data: give it with --input, or --seed for numbers that are made", s.name, part_.device);
    }
  }
  session::Options o;
  o.device = options.device;
  o.machine = options.machine;
  o.tiles_per_ipu = options.tiles_per_ipu;
  o.engine["pando.threads"] = std::to_string(options.threads);
  if (options.profile.empty()) {
    o.engine["pando.cycleModel"] = "false";
  } else {
    // Two runs of the engine: bringing variables, the first step.
    o.engine.insert({{"autoReport.all", "true"}, {"autoReport.executionProfileProgramRunCount", "2"}});
    o.engine["pando.reportFile"] = report_ = report_file(options.profile, part_.device, several_);
    if (several_) recorder_ = std::make_unique<Recorder>(profile::kMostPlanEvents / devices_);
  }
  std::vector<ChannelEnd> channels = part_.channels;
  session_ = std::make_unique<session::Session>(Module(m), o);
  for (const ChannelEnd& end : channels) connect_channel(end);
  stored_.reserve(part_.host.size());  // what is connected writes to them
  for (const HostEnd& end : part_.host) {
    const HostStream& s = m.stream(end.stream);
    if (end.to_device) {
      connect_input(end, data, options.steps);
    } else if (options.results) {
      connect_output(end, stored_.emplace_back(Stored{end.name, s.dtype, s.shape, {}, {}}));
    } else {
      session_->connect(end.stream, [](void*) {});
    }
  }
  session_->on_step([this](const StepDone& step) {
    if (recorder_) recorder_->done(step);
    board_.set_operation(place_, step.name.empty() ? "a step without a name" : std::string_view(step.name.data(), step.name.size()));
  });
  session_->attach();
  session_->weights_from_host();
}

void DeviceRun::connect_channel(const ChannelEnd& end) {
  const exec::Channel& c = channels_.all()[end.channel];
  const std::string what =
      end.sends ? fmt::format("send '{}' to device {}", c.name, c.to) : fmt::format("receive '{}' from device {}", c.name, c.from);
  session_->connect(end.stream, [this, end, what, n = std::int64_t{0}](void* block) mutable {
    board_.set_operation(place_, fmt::format("{}, message {}", what, ++n));
    const std::int64_t begin = recorder_ ? Recorder::now() : 0;
    if (end.sends) {
      channels_.send(end.channel, block);
    } else {
      channels_.receive(end.channel, block);
    }
    if (recorder_) recorder_->message(end.channel, end.sends, begin);
  });
}

void DeviceRun::connect_input(const HostEnd& end, const Data& data, std::int64_t steps) {
  const HostStream& s = part_.module.stream(end.stream);
  const auto blocks = data.stream(end.name, s.dtype, s.shape, steps * end.blocks_per_step);
  if (!blocks)
    reject(ErrorClass::value, "stream-without-data",
           "stream '{}' of device {} has no data: give it with --input, or --seed for numbers that are made", end.name, part_.device);
  session_->connect(end.stream, [this, end, blocks = *blocks, bytes = blocks->size_bytes() / static_cast<std::size_t>(blocks->shape()[0]),
                                 k = std::int64_t{0}](void* block) mutable {
    board_.set_operation(place_, fmt::format("load '{}'", end.name));
    const std::int64_t b = end.block(k++) % blocks.shape()[0];
    std::memcpy(block, blocks.data() + static_cast<std::size_t>(b) * bytes, bytes);
  });
}

void DeviceRun::connect_output(const HostEnd& end, Stored& stored) {
  const HostStream& s = part_.module.stream(end.stream);
  const std::size_t bytes = static_cast<std::size_t>(elements_of(s.shape)) * size_of(s.dtype);
  session_->connect(end.stream, [this, end, &stored, bytes, k = std::int64_t{0}](void* block) mutable {
    board_.set_operation(place_, fmt::format("store '{}'", end.name));
    stored.numbers.push_back(end.block(k++));
    stored.bytes.append(static_cast<const char*>(block), bytes);
  });
}

void DeviceRun::run(std::int64_t steps) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  auto last = begin;
  running_ = true;
  for (std::int64_t step = 0; step < steps; ++step) {
    board_.set_step(place_, step);
    if (recorder_) recorder_->begin();
    session_->run({}, {});
    const auto now = Clock::now();
    const double took = std::chrono::duration<double>(now - last).count();
    quickest_ = step == 0 ? took : std::min(quickest_, took);
    last = now;
  }
  running_ = false;
  if (recorder_) recorder_->end();
  seconds_ = std::chrono::duration<double>(last - begin).count();
}

DeviceTimeline DeviceRun::timeline(unsigned rank) {
  DeviceTimeline t = recorder_->take();
  t.device = part_.device;
  t.rank = rank;
  Recorder::add_memory(t, report_);
  return t;
}

void DeviceRun::stop() {
  // A run that has just ended has nothing to stop.
  try {
    if (running_) session_->stop();
  } catch (const std::exception&) {}
}

std::vector<std::pair<std::string, HostTensor>> DeviceRun::variables() {
  std::vector<std::pair<std::string, HostTensor>> all;
  for (std::size_t i = 0; i < part_.module.state_count(); ++i) {
    const StateId id(static_cast<StateId::rep>(i));
    if (!is_slots(part_.module.state(id).name)) all.emplace_back(part_.module.state(id).name, session_->data(id));
  }
  return all;
}

}  // namespace pando::ranks
