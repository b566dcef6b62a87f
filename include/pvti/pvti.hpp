#ifndef pvti_pvti_hpp
#define pvti_pvti_hpp

// Trace points of host code: when what was done, on which thread. They cost next to nothing until a trace is asked for, by
//   PVTI_OPTIONS='{"enable":"true", "directory":"traces"}'    or by an engine with autoReport.outputExecutionProfile (or autoReport.all).
// At the end of the process the trace is in DIRECTORY/trace.json, in the format of chrome://tracing and Perfetto. Engines write there what
// they do, too: compile, load, each run.

#include <poplar/Export.hpp>

#include <cstddef>
#include <string>
#include <utility>

namespace pvti {

/// A name for trace points that belong together. Names are kept until the process ends, channels own nothing: where several libraries have
/// a global channel of one name, that is constructed and destroyed once for each of them.
class POPLAR_EXPORT TraceChannel {
 public:
  TraceChannel(const std::string& name);
  TraceChannel(const char* name) : TraceChannel(std::string(name)) {}
  const std::string& name() const { return *name_; }

 private:
  const std::string* name_;
};

/// Text that goes with a trace point.
class Metadata {
 public:
  Metadata() = default;
  explicit Metadata(std::string text) : text_(std::move(text)) {}
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};
/// The original calls the function with a JSON writer of its own; here nothing is written.
template <class F> Metadata createJsonMetadata(F&&) { return Metadata(); }

/// From its construction to its destruction, or from begin to end of that name on one thread.
class POPLAR_EXPORT Tracepoint {
 public:
  Tracepoint(TraceChannel* channel, const std::string& label);
  Tracepoint(TraceChannel* channel, const char* label);
  Tracepoint(TraceChannel* channel, const char* label, std::size_t length);
  Tracepoint(TraceChannel* channel, const std::string& label, Metadata* metadata);
  Tracepoint(TraceChannel* channel, const char* label, std::size_t length, Metadata* metadata);
  ~Tracepoint();
  Tracepoint(const Tracepoint&) = delete;
  Tracepoint& operator=(const Tracepoint&) = delete;

  static void begin(TraceChannel* channel, const std::string& label);
  static void end(TraceChannel* channel, const std::string& label);

 private:
  bool open_;
};

/// Numbers over time, by series.
class POPLAR_EXPORT Graph {
 public:
  explicit Graph(std::string name) : name_(std::move(name)) {}
  Graph(std::string name, std::string unit) : name_(std::move(name)), unit_(std::move(unit)) {}
  template <class T> void addPoint(const std::string& series, T value) { add(series, static_cast<double>(value)); }

 private:
  void add(const std::string& series, double value);
  std::string name_, unit_;
};

/// Are trace points recorded?
POPLAR_EXPORT bool isEnabled();
/// Records from now on and writes the trace into this directory at the end, or at flush. A second directory replaces the first.
POPLAR_EXPORT void enable(const std::string& directory);
/// Writes what there is to the file. Throws poplar::file_load_error if it cannot.
POPLAR_EXPORT void flush();

}  // namespace pvti

#endif
