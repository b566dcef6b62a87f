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

/// One line of a graph: a number at the time at which it is added.
class POPLAR_EXPORT Series {
 public:
  template <class T> void add(T value) { add_number(static_cast<double>(value)); }

 private:
  friend class Graph;
  Series(std::string graph, std::string name) : graph_(std::move(graph)), name_(std::move(name)) {}
  void add_number(double value) const;
  std::string graph_, name_;
};

/// Numbers over time, by series.
class POPLAR_EXPORT Graph {
 public:
  explicit Graph(std::string name) : name_(std::move(name)) {}
  Graph(std::string name, const std::string& unit) : name_(unit.empty() ? std::move(name) : name + " (" + unit + ")") {}
  /// The series may outlive the graph.
  Series addSeries(std::string name) const { return Series(name_, std::move(name)); }
  template <class T> void addPoint(const std::string& series, T value) { addSeries(series).add(value); }

 private:
  std::string name_;
};

/// Are trace points recorded?
POPLAR_EXPORT bool isEnabled();
/// Records from now on and writes the trace into this directory at the end, or at flush. A second directory replaces the first.
POPLAR_EXPORT void enable(const std::string& directory);
/// Writes what there is to the file. Throws poplar::file_load_error if it cannot.
POPLAR_EXPORT void flush();

}  // namespace pvti

#endif
