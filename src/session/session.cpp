#include "session/session.h"

#include "base/archive.h"
#include "base/check.h"
#include "base/error.h"
#include "base/process/stop.h"
#include "ir/checks/verify.h"
#include "ir/error.h"
#include "ir/text/print.h"
#include "lower/lower.h"
#include "session/dump.h"
#include "session/instances.h"
#include "transform/ambiguity.h"
#include "transform/devices/complete_places.h"
#include "transform/devices/host_data.h"
#include "transform/devices/unroll_pmap.h"
#include "transform/expand.h"
#include "transform/flatten_tuples.h"
#include "transform/prune.h"
#include "transform/schedule.h"

#include <fmt/format.h>
#include <malloc.h>
#include <pando/host.hpp>
#include <pando/in_place.hpp>
#include <pando/placing.hpp>
#include <pando/replicas.hpp>
#include <poplar/Engine.hpp>
#include <poplar/IPUModel.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <streambuf>

namespace pando::session {

using ir::ErrorClass;
using ir::HostStreamId;
using ir::HostTensor;
using ir::reject;
using ir::StateId;

namespace {

// What the engine prints goes to a function, piece by piece as it comes.
class PrintBuffer : public std::streambuf {
 public:
  std::function<void(std::string_view)> sink;

 protected:
  int overflow(int c) override {
    const char text = static_cast<char>(c);
    if (c != traits_type::eof()) sink({&text, 1});
    return c;
  }
  std::streamsize xsputn(const char* text, std::streamsize n) override {
    sink({text, static_cast<std::size_t>(n)});
    return n;
  }
};

class CountingBuffer : public std::streambuf {
 public:
  std::uint64_t bytes = 0;

 protected:
  int overflow(int c) override {
    ++bytes;
    return c == traits_type::eof() ? 0 : c;
  }
  std::streamsize xsputn(const char*, std::streamsize n) override {
    bytes += static_cast<std::uint64_t>(n);
    return n;
  }
};

// The slices of one replica's stream.
struct Cursor {
  std::byte* data = nullptr;
  std::int64_t slices = 0, next = 0;
};

// What compiling took goes back to the operating system, where it is much: the tiles' memory comes next.
void give_back_memory() {
#ifdef __GLIBC__
  constexpr std::size_t kMuch = std::size_t{64} << 20;
  if (mallinfo2().fordblks > kMuch) malloc_trim(0);
#endif
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

bool maps_over_devices(const ir::Module& m) {
  for (std::size_t g = 0; g < m.graph_count(); ++g) {
    const auto& ops = m.graph(ir::GraphId(static_cast<ir::GraphId::rep>(g))).ops;
    if (std::any_of(ops.begin(), ops.end(), [&](ir::OpId o) { return m.row(o).control == ir::Control::map; })) return true;
  }
  return false;
}

// Larger ones would not fit into a host's memory, however small their programs are.
constexpr std::int64_t kMostTiles = 65536, kMostIpus = 65536;

enum Program : unsigned { kMain, kWeightsFromHost, kWeightsToHost };

}  // namespace

struct Session::State {
  // Holds the variables' data on the host: a builder's, or `own`.
  ir::Module* source = nullptr;
  std::optional<ir::Module> own;
  Options options;
  ir::Module module;
  std::int64_t devices = 1;
  poplar::Device device;
  std::optional<poplar::Engine> engine;
  bool has_program[3] = {};
  std::shared_ptr<ReplicaLink> link;
  bool met = false;  // the other instances
  std::atomic<bool> stopping{false};
  std::vector<HostStreamId> inputs, outputs;
  Times times;
  bool loaded = false, attached = false, in_sync = true;
  // Of programs with replicas: by stream and replica.
  std::map<HostStreamId, std::vector<Cursor>> cursors;
  // Streams that functions bring or take.
  std::map<HostStreamId, std::function<void(void*)>> functions;
  std::function<void(const StepDone&)> step;
  // By state and replica: what an upload reads.
  std::map<StateId, std::vector<HostTensor>> uploads;
  PrintBuffer print_buffer;
  std::ostream print_stream{&print_buffer};

  void take_own_options();
  void make_device();
  // The graph level. It is not kept: a network's takes hundreds of megabytes.
  poplar::Graph empty_graph() const {
    return poplar::Graph(device.getTarget(), poplar::replication_factor(static_cast<unsigned>(replicas())));
  }
  poplar::OptionFlags engine_flags() const;
  // "": it is not given.
  std::string given(std::string_view option) const;
  bool is_on(std::string_view option) const;
  // Whether a report of compiling or of runs is asked for.
  bool reports() const { return writes("autoReport.outputGraphProfile") || writes("autoReport.outputExecutionProfile"); }
  bool writes(std::string_view part) const { return is_on(given(part).empty() ? "autoReport.all" : part); }
  lower::Lowered lower(poplar::Graph& graph, std::string* decisions = nullptr) const;
  void compile(poplar::Graph& graph, const lower::Lowered& lowered);
  void connect_replicas();
  void watch_steps();
  void connect_function(HostStreamId stream, const std::function<void(void*)>& f);
  void connect(HostStreamId stream, const void* data, std::int64_t slices, std::int64_t replicas);
  void check_data(const VariableData& given) const;
  void upload(StateId id);
  void download(StateId id);
  void run_program(Program p) {
    if (has_program[p]) engine->run(p);
  }
  void require_attached(std::string_view what) const {
    if (!attached)
      reject(ErrorClass::value, "session-not-attached", "{}: the session is not attached to a device; do it inside `with session:`", what);
  }
  // Of all instances; of this one; its first.
  std::int64_t replicas() const { return module.replicas(); }
  std::int64_t local() const { return link ? link->count() : replicas(); }
  std::int64_t first() const { return link ? link->first() : 0; }
  void meet_instances();
  // Blocks of all replicas, of those that each instance has.
  HostTensor gathered(HostTensor here);
};

// Options of the session that are given among those of the engine.
void Session::State::take_own_options() {
  std::erase_if(options.engine, [&](const auto& given) { return options.settings.read(given.first, given.second); });
  if (options.settings.text("plan_objective") != "auto") return;
  options.settings.set("plan_objective", std::string(reports() ? "cycles" : "hostTime"));
}

void Session::State::make_device() {
  devices = lower::devices_of(module);
  if (options.tiles_per_ipu < 0 || options.tiles_per_ipu > kMostTiles) {
    reject(ErrorClass::value, "tiles-per-ipu", "IPUs of {} tiles; 1 to {} are possible, and 0 for the machine's own", options.tiles_per_ipu,
           kMostTiles);
  }
  if (options.instances && replicas() % options.instances->count() != 0)
    reject(ErrorClass::value, "replicas-of-instances", "{} replicas cannot be dealt out evenly to {} instances", replicas(),
           options.instances->count());
  if (devices * replicas() > kMostIpus) {
    reject(ErrorClass::value, "too-many-ipus", "{} devices of {} replicas are {} IPUs; {} are possible", devices, replicas(),
           devices * replicas(), kMostIpus);
  }
  if (options.device == "cpu") {
    options.settings.drop_those_of_ipus();
    options.settings.check({module, 1});
    device = poplar::Device::createCPUDevice(static_cast<unsigned>(devices * replicas()));
    return;
  }
  if (options.device != "ipu_model" && options.device != "ipu_hw") {
    reject(ErrorClass::value, "unknown-device", "there is no device '{}'; 'cpu', 'ipu_model' and 'ipu_hw' are possible", options.device);
  }
  poplar::IPUModel model(options.machine.c_str());
  model.numIPUs = static_cast<unsigned>(devices * replicas());
  if (options.tiles_per_ipu > 0) model.tilesPerIPU = static_cast<unsigned>(options.tiles_per_ipu);
  options.settings.check({module, static_cast<std::int64_t>(model.tilesPerIPU)});
  device = model.createDevice();
}

poplar::OptionFlags Session::State::engine_flags() const {
  poplar::OptionFlags flags;
  for (const auto& [name, value] : options.engine) flags.set(name, value);
  return flags;
}

// As the engine reads it: what the environment says counts more than what the session is given.
std::string Session::State::given(std::string_view option) const {
  poplar::OptionFlags flags = engine_flags();
  if (const char* environment = std::getenv("POPLAR_ENGINE_OPTIONS"); environment && *environment) {
    poplar::readJSON(poplar::StringRef(environment), flags);
  }
  const auto found = flags.find(std::string(option));
  return found != flags.end() ? found->second : std::string();
}

bool Session::State::is_on(std::string_view option) const {
  const std::string value = given(option);
  return value == "true" || value == "1";
}

lower::Lowered Session::State::lower(poplar::Graph& graph, std::string* decisions) const {
  lower::Options o;
  o.settings = options.settings;
  o.decisions = decisions;
  // What does not fit is compiled for its report, too.
  o.allow_out_of_memory = is_on("debug.allowOutOfMemory") || reports();
  return lower::lower(module, graph, o);
}

void Session::State::compile(poplar::Graph& graph, const lower::Lowered& lowered) {
  const auto begin = std::chrono::steady_clock::now();
  const poplar::OptionFlags flags = engine_flags();
  const poplar::program::Sequence* programs[] = {&lowered.main, &lowered.weights_from_host, &lowered.weights_to_host};
  for (unsigned p = 0; p < 3; ++p) has_program[p] = !programs[p]->isEmpty();
  engine.emplace(graph, std::vector<poplar::program::Program>{lowered.main, lowered.weights_from_host, lowered.weights_to_host}, flags);
  times.compile = seconds_since(begin);
}

Session::Session(ir::Builder& builder, Options options) : state_(std::make_unique<State>()) {
  state_->source = &builder.module();
  state_->options = std::move(options);
  const auto begin = std::chrono::steady_clock::now();
  builder.finish();
  state_->take_own_options();
  if (state_->options.settings.flag("check_ambiguity")) transform::reject_ambiguity(builder);
  state_->times.transform = seconds_since(begin);
  prepare();
}

Session::Session(ir::Module module, Options options) : state_(std::make_unique<State>()) {
  state_->own = std::move(module);
  state_->source = &*state_->own;
  state_->options = std::move(options);
  state_->take_own_options();
  prepare();
}

void Session::prepare() {
  State& s = *state_;
  const auto begin = std::chrono::steady_clock::now();
  s.module = *s.source;
  if (s.module.graph(s.module.main_graph()).ops.empty()) {
    reject(ErrorClass::runtime, "empty-program", "the main graph has no op: nothing would run on any IPU");
  }
  Dump dump;
  check_stop();
  dump.after("build", s.module);
  ir::check(s.module);
  if (maps_over_devices(s.module)) {
    s.module = transform::unroll_pmap(s.module);
    dump.after("unroll_pmap", s.module);
  }
  transform::complete_places(s.module);
  dump.after("complete_places", s.module);
  transform::expand(s.module, [](const ir::OpRow& row) { return lower::has_lowering(row); });
  dump.after("expand", s.module);
  transform::flatten_tuples(s.module);
  dump.after("flatten_tuples", s.module);
  check_stop();
  transform::prune(s.module);
  dump.after("prune", s.module);
  if (s.options.settings.flag("schedule")) {
    transform::schedule(s.module);
    dump.after("schedule", s.module);
  }
  check_stop();
  s.make_device();
  s.times.transform += seconds_since(begin);
  const auto lowering = std::chrono::steady_clock::now();
  {
    poplar::Graph graph = s.empty_graph();
    std::string decisions;
    const lower::Lowered lowered = s.lower(graph, dump.wanted() ? &decisions : nullptr);
    dump.decisions(decisions);
    s.inputs = lowered.inputs;
    s.outputs = lowered.outputs;
    s.times.lower = seconds_since(lowering);
    s.compile(graph, lowered);
  }
  if (s.options.instances && s.options.instances->count() > 1) s.link = s.options.instances->link(static_cast<unsigned>(s.replicas()));
  give_back_memory();
}

Session::~Session() = default;
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;

const Options& Session::options() const { return state_->options; }
const ir::Module& Session::lowered() const { return state_->module; }
std::int64_t Session::ipus() const { return state_->devices * state_->replicas(); }
const std::vector<HostStreamId>& Session::inputs() const { return state_->inputs; }
const std::vector<HostStreamId>& Session::outputs() const { return state_->outputs; }
bool Session::is_attached() const { return state_->attached; }
bool Session::in_sync() const { return state_->in_sync; }
const Session::Times& Session::times() const { return state_->times; }
std::int64_t Session::local_replicas() const { return state_->local(); }
void Session::stop() {
  state_->stopping = true;
  state_->engine->stop();
}

ir::Shape Session::full_shape(HostStreamId stream) const {
  ir::Shape shape;
  const std::int64_t transfers = state_->options.settings.number("num_host_transfers");
  if (transfers != 1) shape.push_back(transfers);
  if (state_->local() != 1) shape.push_back(state_->local());
  const ir::Shape& own = state_->module.stream(stream).shape;
  shape.insert(shape.end(), own.begin(), own.end());
  return shape;
}

// --- the device --------------------------------------------------------------------------------------------------------------------------

// Once: then copies across replicas fit together.
void Session::State::meet_instances() {
  std::ostringstream executable;
  engine->serializeExecutable(executable);
  const std::string mine = std::to_string(checksum(executable.view()));
  const std::vector<std::string> all =
      options.instances->all_gather(mine, "all instances to compile", {}, [this] { return stopping.load(); });
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i] != all[0])
      reject(ErrorClass::runtime, "instances-differ",
             "instance {} has compiled another program than instance 0: all instances have to build the same one, with the same build of "
             "Pando",
             i);
  }
  pando::share_replicas(*engine, link);
}

HostTensor Session::State::gathered(HostTensor here) {
  if (!link) return here;
  const std::string mine(reinterpret_cast<const char*>(here.data()), here.size_bytes());
  HostTensor all(here.dtype(), {replicas(), here.elements() / local()});
  std::byte* to = all.writable();
  if (options.reads_own_replica) {
    const std::size_t block = here.size_bytes() / static_cast<std::size_t>(local());
    for (std::int64_t r = 0; r < replicas(); ++r) to = std::copy_n(here.data(), block, to);
    return all;
  }
  for (const std::string& part :
       options.instances->all_gather(mine, "variables to come to the host", {}, [this] { return stopping.load(); })) {
    if (part.size() != mine.size()) reject(ErrorClass::runtime, "instances-differ", "instances hold variables of other sizes");
    to = std::copy_n(reinterpret_cast<const std::byte*>(part.data()), part.size(), to);
  }
  return all;
}

void Session::attach() {
  State& s = *state_;
  if (s.attached) return;
  s.stopping = false;
  const auto begin = std::chrono::steady_clock::now();
  if (s.link && !s.met) {
    s.meet_instances();
    s.met = true;
  }
  s.engine->load(s.device);
  if (s.print_buffer.sink) s.engine->setPrintTensorStream(s.print_stream);
  if (s.replicas() > 1) s.connect_replicas();
  for (const auto& [id, f] : s.functions) s.connect_function(id, f);
  s.watch_steps();
  s.loaded = s.attached = true;
  s.in_sync = true;
  s.times.load = seconds_since(begin);
}

void Session::detach() { state_->attached = false; }

void Session::on_print(std::function<void(std::string_view)> f) {
  state_->print_buffer.sink = std::move(f);
  if (state_->loaded) state_->engine->setPrintTensorStream(state_->print_stream);
}

void Session::connect(HostStreamId stream, std::function<void(void*)> f) {
  State& s = *state_;
  const auto knows = [&](const std::vector<HostStreamId>& list) { return std::find(list.begin(), list.end(), stream) != list.end(); };
  if (s.replicas() > 1 || (!knows(s.inputs) && !knows(s.outputs))) {
    reject(ErrorClass::value, "unexpected-stream", "connect: the program has no stream {} of one replica", stream.value);
  }
  if (ir::elements_of(s.module.stream(stream).shape) == 0) return;
  s.functions[stream] = std::move(f);
  if (s.loaded) s.connect_function(stream, s.functions[stream]);
}

void Session::on_step(std::function<void(const StepDone&)> f) {
  state_->step = std::move(f);
  if (state_->loaded) state_->watch_steps();
}

void Session::State::connect_function(HostStreamId stream, const std::function<void(void*)>& f) {
  engine->connectStreamToCallback(lower::stream_handle(stream), std::make_unique<InPlaceCallback>(f));
}

void Session::State::watch_steps() { pando::on_step_done(*engine, step); }

// With replicas each has a place in the data; without, the engine reads and writes the data themselves.
void Session::State::connect_replicas() {
  const auto n = static_cast<unsigned>(local());
  const auto connect_stream = [&](HostStreamId id, bool in) {
    std::vector<Cursor>& mine = cursors[id];
    mine.resize(n);
    const std::size_t bytes = static_cast<std::size_t>(ir::elements_of(module.stream(id).shape)) * ir::size_of(module.stream(id).dtype);
    if (bytes == 0) return;
    for (unsigned r = 0; r < n; ++r) {
      Cursor* const c = &mine[r];
      engine->connectStreamToCallback(lower::stream_handle(id), r, [c, r, n, bytes, in](void* block) {
        std::byte* const slice = c->data + (static_cast<std::size_t>(c->next++ % c->slices) * n + r) * bytes;
        if (in) {
          std::copy_n(slice, bytes, static_cast<std::byte*>(block));
        } else {
          std::copy_n(static_cast<const std::byte*>(block), bytes, slice);
        }
      });
    }
  };
  for (HostStreamId id : inputs) connect_stream(id, true);
  for (HostStreamId id : outputs) connect_stream(id, false);
  for (std::size_t i = 0; i < module.state_count(); ++i) {
    const StateId id(static_cast<StateId::rep>(i));
    if (!module.state(id).input || ir::elements_of(module.type(module.state(id).type).shape) == 0) continue;
    std::vector<HostTensor>& mine = uploads[id];
    mine.resize(n);
    for (unsigned r = 0; r < n; ++r) {
      const HostTensor* const t = &mine[r];
      engine->connectStreamToCallback(lower::upload_handle(id), r,
                                      [t](void* block) { std::copy_n(t->data(), t->size_bytes(), static_cast<std::byte*>(block)); });
    }
  }
}

void Session::State::connect(HostStreamId stream, const void* data, std::int64_t slices, std::int64_t replicas) {
  auto* const begin = static_cast<std::byte*>(const_cast<void*>(data));
  if (replicas > 1) {
    for (Cursor& c : cursors.at(stream)) c = {begin, slices, 0};
    return;
  }
  const ir::HostStream& h = module.stream(stream);
  const std::size_t bytes = static_cast<std::size_t>(ir::elements_of(h.shape)) * ir::size_of(h.dtype);
  if (bytes > 0) engine->connectStream(lower::stream_handle(stream), begin, begin + bytes * static_cast<std::size_t>(slices));
}

void Session::run(std::span<const InputData> inputs, std::span<const OutputData> outputs) {
  State& s = *state_;
  s.require_attached("run");
  const auto check_all = [&](const auto& given, const std::vector<HostStreamId>& wanted, std::string_view what) {
    for (HostStreamId w : wanted) {
      const bool found = std::any_of(given.begin(), given.end(), [&](const auto& g) { return g.stream == w; });
      if (!found && !s.functions.contains(w))
        reject(ErrorClass::value, "stream-without-data", "run: {} stream '{}' has no data", what, s.module.stream(w).name);
    }
    for (const auto& g : given) {
      if (std::find(wanted.begin(), wanted.end(), g.stream) == wanted.end()) {
        reject(ErrorClass::value, "unexpected-stream", "run: the program has no {} stream '{}'", what, s.module.stream(g.stream).name);
      }
      if (g.slices < 1) reject(ErrorClass::value, "no-slices", "run: {} slices for stream '{}'", g.slices, s.module.stream(g.stream).name);
    }
  };
  check_all(inputs, s.inputs, "input");
  check_all(outputs, s.outputs, "output");
  for (const InputData& i : inputs) s.connect(i.stream, i.data, i.slices, s.replicas());
  for (const OutputData& o : outputs) s.connect(o.stream, o.data, o.slices, s.replicas());
  s.in_sync = s.stopping = false;
  s.run_program(kMain);
}

// --- variables ---------------------------------------------------------------------------------------------------------------------------

void Session::State::upload(StateId id) {
  const ir::State& state = module.state(id);
  const HostTensor data = source->blob(state.data);
  const auto n = static_cast<std::size_t>(local());
  for (std::size_t r = 0; r < n; ++r) {
    const HostTensor mine = transform::data_of_replica(module, state, data, first() + static_cast<std::int64_t>(r));
    if (mine.size_bytes() == 0) continue;
    if (!state.input) {
      engine->copyToRemoteBuffer(mine.data(), lower::buffer_handle(state.buffer), static_cast<int>(state.row), static_cast<unsigned>(r));
    } else if (replicas() == 1) {
      engine->writeTensor(lower::upload_handle(id), mine.data(), mine.data() + mine.size_bytes());
    } else {
      uploads[id][r] = mine;
    }
  }
}

void Session::weights_from_host() {
  State& s = *state_;
  s.require_attached("weights_from_host");
  s.stopping = false;
  for (std::size_t i = 0; i < s.module.state_count(); ++i) s.upload(StateId(static_cast<StateId::rep>(i)));
  s.run_program(kWeightsFromHost);
  for (auto& [id, tensors] : s.uploads) {
    for (HostTensor& t : tensors) t = HostTensor();
  }
  s.in_sync = true;
}

void Session::State::download(StateId id) {
  const ir::State& state = module.state(id);
  const ir::Type& type = module.type(state.type);
  const auto n = static_cast<std::size_t>(local());
  const std::size_t bytes = static_cast<std::size_t>(ir::elements_of(type.shape)) * ir::size_of(type.dtype);
  HostTensor together(type.dtype, {static_cast<std::int64_t>(n), ir::elements_of(type.shape)});
  std::byte* const to = together.writable();
  if (bytes > 0 && state.input) {
    engine->readTensor(lower::download_handle(id), to, to + bytes * n);
  } else if (bytes > 0) {
    for (std::size_t r = 0; r < n; ++r) {
      engine->copyFromRemoteBuffer(lower::buffer_handle(state.buffer), to + r * bytes, static_cast<int>(state.row),
                                   static_cast<unsigned>(r));
    }
  }
  together = gathered(std::move(together));
  const bool mapped = std::find(options.mapped.begin(), options.mapped.end(), id) != options.mapped.end();
  HostTensor data = source->blob(state.data);
  if (mapped) {
    transform::store_replicas(module, state, together, const_cast<std::byte*>(data.data()), data);
    return;
  }
  HostTensor fresh(data.dtype(), transform::host_shape(module, state, data));
  transform::store_replicas(module, state, together, fresh.writable(), fresh);
  source->set_blob(state.data, fresh);
}

void Session::weights_to_host() {
  State& s = *state_;
  s.require_attached("weights_to_host");
  s.stopping = false;
  s.run_program(kWeightsToHost);
  for (std::size_t i = 0; i < s.module.state_count(); ++i) s.download(StateId(static_cast<StateId::rep>(i)));
  s.in_sync = true;
}

HostTensor Session::data(StateId id) {
  if (state_->attached && !state_->in_sync) weights_to_host();
  return state_->source->blob(state_->module.state(id).data);
}

void Session::State::check_data(const VariableData& given) const {
  const ir::State& state = module.state(given.state);
  const HostTensor &data = given.data, &old = source->blob(state.data);
  if (data.dtype() != old.dtype() || data.shape() != old.shape()) {
    reject(data.dtype() != old.dtype() ? ErrorClass::type : ErrorClass::value, "variable-data", "'{}' holds {} {}, not {} {}", state.name,
           ir::name_of(old.dtype()), ir::to_string(old.shape()), ir::name_of(data.dtype()), ir::to_string(data.shape()));
  }
}

void Session::write(std::vector<VariableData> data) {
  State& s = *state_;
  for (const VariableData& given : data) s.check_data(given);
  // Each variable goes up by itself where no program brings all of them together.
  const bool alone = s.replicas() == 1 && !s.has_program[kWeightsFromHost];
  if (s.attached && !s.in_sync && !alone) weights_to_host();
  for (VariableData& given : data) {
    const ir::State& state = s.module.state(given.state);
    const bool mapped = std::find(s.options.mapped.begin(), s.options.mapped.end(), given.state) != s.options.mapped.end();
    if (mapped) {
      std::copy_n(given.data.data(), given.data.size_bytes(), const_cast<std::byte*>(s.source->blob(state.data).data()));
    } else {
      s.source->set_blob(state.data, std::move(given.data));
    }
  }
  if (!s.attached) return;
  if (!alone) return weights_from_host();
  for (const VariableData& given : data) s.upload(given.state);
}

// --- looking in --------------------------------------------------------------------------------------------------------------------------

std::string Session::dump(std::string_view level) const {
  if (level == "model") return ir::print(state_->module);
  if (level != "graph")
    reject(ErrorClass::value, "unknown-level", "there is no text of level '{}' here; 'model' and 'graph' are possible", level);
  std::ostringstream out;
  poplar::Graph graph = state_->empty_graph();
  const lower::Lowered lowered = state_->lower(graph);
  graph.serialize(out);
  return out.str();
}

std::uint64_t Session::executable_bytes() const {
  CountingBuffer count;
  std::ostream out(&count);
  state_->engine->serializeExecutable(out);
  return count.bytes;
}

std::uint64_t Session::executable_hash() const {
  std::ostringstream out;
  state_->engine->serializeExecutable(out);
  return checksum(out.view());
}

std::uint64_t Session::cycles() {
  return static_cast<std::uint64_t>(state_->engine->getExecutionProfile()["simulation"]["cycles"].asNumber());
}
void Session::reset_cycles() { state_->engine->resetExecutionProfile(); }
double Session::clock_hz() const { return state_->device.getTarget().getTileClockFrequency(); }

std::vector<std::uint64_t> Session::resident_bytes() const { return pando::resident_bytes(*state_->engine); }

std::string Session::report_file() const {
  if (!state_->reports()) return {};
  const std::string folder = state_->given("autoReport.directory");
  return (folder.empty() ? "." : folder) + "/profile.pando";
}

std::string Session::profile_summary() {
  std::ostringstream out;
  state_->engine->printProfileSummary(out);
  if (state_->options.device == "cpu") return out.str();
  const std::string& objective = state_->options.settings.text("plan_objective");
  out << "Plans spare " << (objective == "cycles" ? "the machine's cycles" : "this host's time") << " (pando.planObjective: " << objective
      << ")\n";
  return out.str();
}

}  // namespace pando::session
