#ifndef pvti_pvti_hpp
#define pvti_pvti_hpp

// Trace points of host code. They compile and do nothing: use a sampling profiler on the host.

#include <cstddef>
#include <string>
#include <utility>

namespace pvti {

class TraceChannel {
public:
  explicit TraceChannel(std::string name) : name_(std::move(name)) {}
  const std::string &name() const { return name_; }

private:
  std::string name_;
};

class Metadata {};
template <class F> Metadata createJsonMetadata(F &&) { return Metadata(); }

class Tracepoint {
public:
  Tracepoint(TraceChannel *, const std::string &) {}
  Tracepoint(TraceChannel *, const char *) {}
  Tracepoint(TraceChannel *, const char *, std::size_t) {}
  Tracepoint(TraceChannel *, const std::string &, Metadata *) {}
  Tracepoint(TraceChannel *, const char *, std::size_t, Metadata *) {}
  ~Tracepoint() {}
  static void begin(TraceChannel *, const std::string &) {}
  static void end(TraceChannel *, const std::string &) {}
};

class Graph {
public:
  explicit Graph(std::string name) : name_(std::move(name)) {}
  Graph(std::string name, std::string) : name_(std::move(name)) {}
  template <class T> void addPoint(const std::string &, T) {}

private:
  std::string name_;
};

} // namespace pvti

#endif
