// Engine: construction, loading, running.
#include "poplar/Engine.hpp"

#include "base/process/stop.h"
#include "facade/engine/compile_graph.h"
#include "facade/engine/engine_state.h"
#include "pando/host.hpp"
#include "pando/replicas.hpp"
#include "pvti/pvti.hpp"
#include "tile/step.h"

namespace pando::facade {

poplar::core::EngineState& Access::state(const poplar::Engine& e) {
  if (!e.state_) fail(ErrorKind::poplar_error, "no-engine", "this engine was moved from");
  return *e.state_;
}

poplar::core::EngineState& Access::idle(const poplar::Engine& e) {
  poplar::core::EngineState& s = state(e);
  const std::lock_guard lock(s.lock);
  if (s.running) fail(ErrorKind::poplar_error, "engine-running", "the engine runs a program: callbacks and other threads can only stop it");
  return s;
}

}  // namespace pando::facade

namespace poplar {

using core::EngineState;
using core::ExecutableState;
using pando::ErrorKind;
using pando::fail;
using pando::facade::Access;
using pando::facade::EngineSettings;
using pando::facade::parse_engine_options;

namespace {

bool has_stamps(const pando::tile::Program& program) {
  for (const auto& stream : program.streams)
    for (const auto& i : stream.code)
      if (pando::tile::row_of(i.op).reads_clock) return true;
  return false;
}

pvti::TraceChannel& channel() {
  static pvti::TraceChannel c = {"poplar"};
  return c;
}

std::unique_ptr<EngineState> new_engine(std::unique_ptr<ExecutableState> executable, EngineSettings settings) {
  auto s = std::make_unique<EngineState>();
  s->has_stamps = has_stamps(*executable->program);
  s->executable = std::move(executable);
  s->options = EngineOptions(settings.flags);
  s->settings = std::move(settings);
  s->profiling = s->settings.cycle_model;
  if (s->settings.execution_report && s->settings.report_file.empty()) pvti::enable(s->settings.report_directory);
  return s;
}

std::unique_ptr<EngineState> compile_engine(const Graph& graph, ArrayRef<program::Program> programs, const OptionFlags& options,
                                            const ProgressFunc& progress) {
  EngineSettings settings = parse_engine_options(options);
  const pvti::Tracepoint trace(&channel(), "compile");
  auto executable = pando::facade::compile_executable(graph, programs, settings, progress);
  return new_engine(std::move(executable), std::move(settings));
}

// The options that it was compiled with, and those that are given now.
EngineSettings settings_of(const Executable& executable, const OptionFlags& options) {
  OptionFlags flags = Access::state(executable).options;
  for (const auto& [name, value] : options) flags.set(name, value);
  return parse_engine_options(flags);
}

std::string describe(const Target& t) {
  return fmt::format("{} '{}', {} IPUs of {} tiles", toString(t.getTargetType()), t.getTargetSystemString(), t.getNumIPUs(),
                     t.getTilesPerIPU());
}

bool is_model(const Target& target) { return target.getTargetType() == TargetType::IPU_MODEL; }

void check_loadable(const ExecutableState& e, const Device& device) {
  if (device.getTarget() != e.target)
    fail(ErrorKind::poplar_error, "wrong-target", "the program was compiled for another target ({}) than the device's ({})",
         describe(e.target), describe(device.getTarget()));
  if (!device.isAttached())
    fail(ErrorKind::poplar_error, "device-not-attached", "device {} is not attached: call attach() first", device.getId());
  if (!e.out_of_memory.empty() && !is_model(device.getTarget()))
    fail(ErrorKind::poplar_error, "load-out-of-memory",
         "the program was compiled out of memory: it can be reported on, and run on an IPUModel, whose tiles have as much as it needs: {}",
         e.out_of_memory);
}

void attach_observer(EngineState& s) {
  if (!s.runner) return;
  pando::tile::StepObserver* observer = s.profiling || s.has_stamps ? s.cycles.get() : nullptr;
  if (s.tensors) {
    s.tensors->before(observer, s.cycles.get());
    observer = s.tensors.get();
  }
  if (s.times) {
    s.times->before(observer, s.cycles.get());
    observer = s.times.get();
  }
  auto watch = s.step ? std::make_unique<pando::facade::StepWatch>(*s.executable->program, s.step, observer, s.cycles.get()) : nullptr;
  s.runner->set_observer(watch ? watch.get() : observer);
  s.watch = std::move(watch);
}

void connect_all(EngineState& s) {
  for (const auto& [handle, connection] : s.streams) pando::facade::apply(*s.runner, handle, connection);
  for (const auto& [key, callback] : s.host_functions) pando::facade::apply(*s.runner, key.first, key.second, callback);
  if (s.print_stream) s.runner->set_print_stream(s.print_stream);
}

// Destroys it, when it does not run any more.
void retire(std::unique_ptr<EngineState> s) {
  if (!s) return;
  std::unique_lock lock(s->lock);
  if (!s->running) return lock.unlock();
  s->runner->stop();
  if (!s->runner->runs_on_this_thread()) return s->changed.wait(lock, [&] { return !s->running; });
  s->abandoned = true;
  lock.unlock();
  static_cast<void>(s.release());  // its run() destroys it
}

// An engine while it runs. Its end destroys an engine that was abandoned meanwhile.
class Claim {
 public:
  explicit Claim(EngineState& s) : s_(&s) { s.running = true; }
  ~Claim() {
    if (s_) static_cast<void>(end());
  }
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;
  // Is the engine still there?
  bool end() {
    EngineState* const s = std::exchange(s_, nullptr);
    bool abandoned = false;
    {
      const std::lock_guard lock(s->lock);
      s->running = false;
      abandoned = s->abandoned;
      s->changed.notify_all();  // who waits for the lock destroys the engine
    }
    if (abandoned) delete s;
    return !abandoned;
  }

 private:
  EngineState* s_;
};

Claim claim(EngineState& s) {
  const std::lock_guard lock(s.lock);
  if (s.running) fail(ErrorKind::poplar_error, "engine-running", "the engine runs a program already");
  return Claim(s);
}

void throw_simulated(EngineState& s) {
  const ErrorCode code = std::exchange(s.simulated_error, ErrorCode::NONE);
  if (code == ErrorCode::EXCEPTION_HOST_SYNC) throw recoverable_runtime_error("simulated error: " + toString(code) + " [simulated-error]");
  fail(ErrorKind::application_runtime_error, "simulated-error", "simulated error: {}", toString(code));
}

}  // namespace

pando::exec::Runner& core::EngineState::loaded() const {
  if (!runner) fail(ErrorKind::poplar_error, "engine-not-loaded", "the engine is not loaded onto a device: call load() first");
  if (*detached)
    fail(ErrorKind::poplar_error, "device-detached", "the device that the engine is loaded onto was detached: attach one and call load()");
  return *runner;
}

unsigned core::EngineState::replicas() const { return settings.exec.link ? settings.exec.link->count() : executable->program->replication; }

Engine::Engine(const Graph& graph, ArrayRef<program::Program> programs, const OptionFlags& options, ProgressFunc progressCallBack,
               const DebugContext&)
    : state_(compile_engine(graph, programs, options, progressCallBack)) {}
Engine::Engine(const Graph& graph, program::Program program, const OptionFlags& options, ProgressFunc progressCallBack, const DebugContext&)
    : state_(compile_engine(graph, {&program, 1}, options, progressCallBack)) {}
Engine::Engine(Executable&& executable, const OptionFlags& options) {
  EngineSettings settings = settings_of(executable, options);
  state_ = new_engine(std::move(Access::slot(executable)), std::move(settings));
}
Engine::Engine(const Executable& executable, const OptionFlags& options) {
  EngineSettings settings = settings_of(executable, options);
  state_ = new_engine(std::make_unique<ExecutableState>(Access::state(executable)), std::move(settings));
}
Engine::Engine(Engine&&) noexcept = default;
Engine& Engine::operator=(Engine&& other) noexcept {
  if (this == &other) return *this;
  retire(std::move(state_));
  state_ = std::move(other.state_);
  return *this;
}
Engine::~Engine() { retire(std::move(state_)); }

void Engine::prepare(const Device& device, const RuntimeOptions&) {
  EngineState& s = Access::idle(*this);
  check_loadable(*s.executable, device);
  s.runner.reset();  // before what it calls
  s.tensors.reset();
  s.times.reset();
  s.settings.exec.workers = Access::state(device).workers;
  s.settings.exec.watches = Access::state(device).watches;
  s.settings.exec.out_of_memory = is_model(device.getTarget());
  s.detached = Access::state(device).detached;
  s.settings.cycles.keeps_trace = s.settings.execution_report;
  s.cycles = std::make_unique<pando::cycles::CycleModel>(s.executable->program, s.executable->library, s.settings.cycles);
}

void Engine::deploy() {
  EngineState& s = Access::idle(*this);
  if (!s.cycles) fail(ErrorKind::poplar_error, "engine-not-prepared", "the engine is not prepared for a device: call prepare() first");
  if (const std::string none = check_break_at(s.settings.exec.break_at, *s.executable->program, s.executable->library); !none.empty())
    std::fprintf(stderr, "warning: %s\n", none.c_str());
  s.runner = std::make_unique<pando::exec::Runner>(s.executable->program, s.executable->library, s.settings.exec);
  if (!s.settings.watch.tensors.empty()) {
    const auto memory = [&runner = *s.runner](unsigned replica, pando::TileId tile) { return runner.tile_base(replica, tile); };
    s.tensors = std::make_unique<pando::facade::TensorWatch>(*s.executable->program, s.executable->library, s.settings.watch, memory);
  }
  if (!s.settings.step_times.empty()) s.times = std::make_unique<pando::facade::StepTimes>(*s.executable->program, s.executable->library);
  attach_observer(s);
  connect_all(s);
}

void Engine::load(const Device& device) {
  const pvti::Tracepoint trace(&channel(), "load");
  prepare(device);
  deploy();
}

void Engine::run(unsigned prog, const std::string& debugName) {
  EngineState& s = Access::idle(*this);
  pando::exec::Runner& runner = s.loaded();
  const unsigned programs = s.executable->program->programs;
  if (prog >= programs)
    fail(ErrorKind::control_program_error, "program-index", "there is no program {}; the engine has {}", prog, programs);
  if (s.simulated_error != ErrorCode::NONE) throw_simulated(s);
  Claim claimed = claim(s);
  const std::uint64_t begin = s.now();
  {
    const pvti::Tracepoint trace(&channel(), debugName.empty() ? "run " + std::to_string(prog) : debugName);
    runner.run(prog);
  }
  ++s.runs;
  if (s.times) s.times->write(s.settings.step_times);
  constexpr std::size_t kMostIntervals = 1 << 16;
  const std::uint64_t end = s.now();
  if (s.intervals.size() < kMostIntervals) s.intervals.emplace_back(begin, end);
  if (s.cycles) s.cycles->describe_run(debugName, end - begin);
  if (s.settings.execution_report && s.runs <= s.settings.report_runs)
    pando::facade::write_report(pando::facade::full_report(s, pando::cycles::Detail::whole), s.settings);
  if (!claimed.end()) fail(ErrorKind::poplar_error, "engine-gone", "a callback destroyed the engine while it ran");
}

void Engine::run(unsigned prog, const std::string& debugName, const RuntimeOptions&) { run(prog, debugName); }

void Engine::loadAndRun(const Device& device, unsigned prog) {
  load(device);
  run(prog);
}

void Engine::stop() { Access::state(*this).loaded().stop(); }

void Engine::resetExecutionProfile() {
  if (Access::idle(*this).cycles) Access::idle(*this).cycles->reset();
}
void Engine::enableExecutionProfiling() {
  Access::idle(*this).profiling = true;
  attach_observer(Access::idle(*this));
}
void Engine::disableExecutionProfiling() {
  Access::idle(*this).profiling = false;
  attach_observer(Access::idle(*this));
}

void Engine::setPrintStream(std::ostream& stream) {
  Access::idle(*this).print_stream = &stream;
  if (Access::idle(*this).runner) Access::idle(*this).runner->set_print_stream(&stream);
}
void Engine::setPrintTensorStream(std::ostream& stream) { setPrintStream(stream); }

double Engine::getTileClockFrequency() const { return Access::state(*this).executable->program->machine.clock_hz; }
const EngineOptions& Engine::getEngineOptions() const { return Access::state(*this).options; }

void Engine::serializeExecutable(std::ostream& out) const {
  const Executable copy = Access::executable(std::make_unique<ExecutableState>(*Access::state(*this).executable));
  copy.serialize(out);
}

void Engine::simulateError(ErrorCode code) { Access::idle(*this).simulated_error = code; }

}  // namespace poplar

namespace pando {

void on_step(poplar::Engine& engine, std::function<void(poplar::StringRef)> f) {
  if (!f) return on_step_done(engine, {});
  on_step_done(engine, [f = std::move(f)](const StepDone& step) { f(step.name); });
}

void on_step_done(poplar::Engine& engine, std::function<void(const StepDone&)> f) {
  poplar::core::EngineState& s = facade::Access::idle(engine);
  s.step = std::move(f);
  poplar::attach_observer(s);
}

void share_replicas(poplar::Engine& engine, std::shared_ptr<ReplicaLink> link) {
  poplar::core::EngineState& s = facade::Access::idle(engine);
  const unsigned replicas = s.executable->program->replication;
  if (link && (link->count() == 0 || link->first() >= replicas || link->count() > replicas - link->first()))
    fail(ErrorKind::graph_replication_error, "replica-range", "share_replicas: {} replicas from {} on; the program has {}", link->count(),
         link->first(), replicas);
  s.settings.exec.link = std::move(link);
}

void stop_compiling_when(const std::atomic<bool>* flag) { set_stop_flag(flag); }

}  // namespace pando
