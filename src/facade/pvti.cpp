#include "pvti/pvti.hpp"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>
#include <type_traits>
#include <vector>

#include "base/error.h"
#include "base/messages.h"
#include "base/source_location.h"
#include "base/text/chrome_trace.h"
#include "poplar/OptionFlags.hpp"

namespace pvti {

namespace {

namespace fs = std::filesystem;

struct Event {
  char phase;  // of the trace format: B, E, C
  unsigned thread;
  double microseconds;
  std::string category, name, more;  // of C: `more` is the series, and `value` its number
  double value = 0;
};

// Of the process. Never destroyed: trace points may come from anywhere, up to the end.
class Trace {
 public:
  static Trace& of_process() {
    static Trace* const trace = new Trace;
    return *trace;
  }

  std::atomic<bool> enabled{false};

  void enable(const std::string& directory) {
    const std::lock_guard lock(mutex_);
    if (directory_.empty()) std::atexit([] { of_process().write_quietly(); });
    directory_ = directory;
    enabled = true;
  }

  void add(char phase, std::string category, std::string name, std::string more = {}, double value = 0) {
    const double now = std::chrono::duration<double, std::micro>(Clock::now() - start_).count();
    const std::lock_guard lock(mutex_);
    const unsigned thread = threads_.try_emplace(std::this_thread::get_id(), static_cast<unsigned>(threads_.size())).first->second;
    events_.push_back({phase, thread, now, std::move(category), std::move(name), std::move(more), value});
  }

  void write() {
    const std::lock_guard lock(mutex_);
    if (directory_.empty()) return;
    std::error_code error;
    fs::create_directories(directory_, error);
    const std::string file = (fs::path(directory_) / "trace.json").string();
    std::ofstream out(file);
    {
      pando::ChromeTrace trace(out, R"("displayTimeUnit":"ns")");
      for (const Event& e : events_) trace.event(event_of(e));
    }
    out.close();
    if (!out) pando::fail(pando::ErrorKind::file_load_error, "trace-file", "cannot write the trace to '{}'", file);
  }

 private:
  using Clock = std::chrono::steady_clock;

  Trace() {
    const char* json = std::getenv("PVTI_OPTIONS");
    if (!json || !*json) return;
    poplar::OptionFlags options;
    try {
      poplar::readJSON(poplar::StringRef(json), options);
    } catch (const std::exception& e) {
      warn(std::string(pando::without_id(e.what())) + "; no trace is written");
      return;
    }
    std::string directory = ".";
    bool wanted = false;
    for (const auto& [key, value] : options) {
      if (key == "enable" && (value == "true" || value == "false"))
        wanted = value == "true";
      else if (key == "enable")
        warn("'enable' is '" + value + "'; expected true or false");
      else if (key == "directory")
        directory = value.empty() ? "." : value;
      else
        warn("option '" + key + "' has no effect here; enable and directory have");
    }
    if (wanted) enable(directory);
  }

  // A trace point may stand where nothing can be thrown: in a constructor of a global, while the process ends.
  static void warn(const std::string& what) { std::fprintf(stderr, "warning: PVTI_OPTIONS: %s\n", pando::printable(what).c_str()); }

  static nlohmann::ordered_json event_of(const Event& e) {
    nlohmann::ordered_json j{{"ph", std::string(1, e.phase)}, {"pid", 0},          {"tid", e.thread},
                             {"ts", e.microseconds},          {"cat", e.category}, {"name", e.name}};
    if (e.phase == 'C')
      j["args"] = {{e.more, e.value}};
    else if (!e.more.empty())
      j["args"] = {{"metadata", e.more}};
    return j;
  }

  void write_quietly() {
    try {
      write();
    } catch (const std::exception& e) { std::fprintf(stderr, "pvti: %s\n", e.what()); }
  }

  std::mutex mutex_;
  std::string directory_;
  std::vector<Event> events_;
  std::map<std::thread::id, unsigned> threads_;  // numbered as they come
  const Clock::time_point start_ = Clock::now();
};

const std::string& name_of(const TraceChannel* channel) {
  static const std::string none = "default";
  return channel ? channel->name() : none;
}

bool open(const TraceChannel* channel, std::string label, const Metadata* metadata = nullptr) {
  if (!isEnabled()) return false;
  Trace::of_process().add('B', name_of(channel), std::move(label), metadata ? metadata->text() : std::string());
  return true;
}

}  // namespace

bool isEnabled() { return Trace::of_process().enabled.load(std::memory_order_relaxed); }
void enable(const std::string& directory) { Trace::of_process().enable(directory.empty() ? "." : directory); }
void flush() { Trace::of_process().write(); }

static_assert(std::is_trivially_destructible<TraceChannel>::value, "");

TraceChannel::TraceChannel(const std::string& name) {
  static std::mutex mutex;
  static std::set<std::string>& names = *new std::set<std::string>;
  const std::lock_guard lock(mutex);
  name_ = &*names.insert(name).first;
}

Tracepoint::Tracepoint(TraceChannel* channel, const std::string& label) : open_(open(channel, label)) {}
Tracepoint::Tracepoint(TraceChannel* channel, const char* label) : open_(open(channel, label)) {}
Tracepoint::Tracepoint(TraceChannel* channel, const char* label, std::size_t length) : open_(open(channel, std::string(label, length))) {}
Tracepoint::Tracepoint(TraceChannel* channel, const std::string& label, Metadata* metadata) : open_(open(channel, label, metadata)) {}
Tracepoint::Tracepoint(TraceChannel* channel, const char* label, std::size_t length, Metadata* metadata)
    : open_(open(channel, std::string(label, length), metadata)) {}
Tracepoint::~Tracepoint() {
  if (open_) Trace::of_process().add('E', {}, {});
}

void Tracepoint::begin(TraceChannel* channel, const std::string& label) { open(channel, label); }
void Tracepoint::end(TraceChannel* channel, const std::string& label) {
  if (isEnabled()) Trace::of_process().add('E', name_of(channel), label);
}

void Series::add_number(double value) const {
  if (isEnabled()) Trace::of_process().add('C', "graph", graph_, name_, value);
}

}  // namespace pvti
