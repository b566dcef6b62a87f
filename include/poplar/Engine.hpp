#ifndef poplar_Engine_hpp
#define poplar_Engine_hpp

#include <poplar/ArrayRef.hpp>
#include <poplar/DataStream.hpp>
#include <poplar/DebugContext.hpp>
#include <poplar/Device.hpp>
#include <poplar/EngineOptions.hpp>
#include <poplar/Error.hpp>
#include <poplar/Executable.hpp>
#include <poplar/Export.hpp>
#include <poplar/Graph.hpp>
#include <poplar/HostFunctionCallback.hpp>
#include <poplar/Module.hpp>
#include <poplar/OptionFlags.hpp>
#include <poplar/ProfileValue.hpp>
#include <poplar/Program.hpp>
#include <poplar/Quarter.hpp>
#include <poplar/RuntimeOptions.hpp>
#include <poplar/StreamCallback.hpp>
#include <poplar/StringRef.hpp>
#include <poplar/exceptions.hpp>

// Public programs use these without including them.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <numeric>
#include <ostream>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace pva {
class Report;
}

namespace poplar {

namespace core {
struct EngineState;
}

/// Called while compiling: steps done, steps in all.
using ProgressFunc = std::function<void(int, int)>;

/// Compiles programs. Program i of the list is number i. Throws what the graph's or the program's faults call for:
/// invalid_tile_mapping, graph_connection_error, graph_cycle_error, graph_recursion_error, link_error, and
/// graph_memory_allocation_error if a tile's memory does not suffice (unless debug.allowOutOfMemory).
POPLAR_EXPORT Executable compileGraph(const Graph& graph, ArrayRef<program::Program> programs, const OptionFlags& options = {},
                                      ProgressFunc progressCallBack = ProgressFunc(), const DebugContext& debugContext = {});
/// With `checkOptionFlags` false, unknown options are ignored.
POPLAR_EXPORT Executable compileGraph(const Graph& graph, ArrayRef<program::Program> programs, const OptionFlags& options,
                                      bool checkOptionFlags, ProgressFunc progressCallBack = ProgressFunc(),
                                      const DebugContext& debugContext = {});

/// Compiles a program without data streams that no Engine runs. Throws as compileGraph does, and poplar_error for a program with streams.
POPLAR_EXPORT Module compileModule(const Graph& graph, program::Program program, const OptionFlags& options = {},
                                   ProgressFunc progressCallBack = ProgressFunc(), const DebugContext& debugContext = {});

/// Runs compiled programs on a device. Can be moved, not copied. Device memory keeps its contents from run to run.
///
/// While a program runs, its callbacks and other threads may call stop() alone: everything else throws poplar_error
/// ("engine-running"), also another run(). Destroying the engine stops the run, and waits for its end; in a callback of that run it
/// does not wait, and run() then throws poplar_error ("engine-gone").
class POPLAR_EXPORT Engine {
 public:
  using ProgressFunc = poplar::ProgressFunc;
  /// A moment, for reportTiming.
  struct TimerTimePoint {
    std::uint64_t nanoseconds = 0;
    std::uint64_t runs = 0;
  };

  /// Compiles (see compileGraph).
  Engine(const Graph& graph, ArrayRef<program::Program> programs, const OptionFlags& options = {},
         ProgressFunc progressCallBack = ProgressFunc(), const DebugContext& debugContext = {});
  Engine(const Graph& graph, program::Program program, const OptionFlags& options = {}, ProgressFunc progressCallBack = ProgressFunc(),
         const DebugContext& debugContext = {});
  Engine(Executable&& executable, const OptionFlags& options = {});
  /// Leaves the executable as it is: engines share what was compiled.
  Engine(const Executable& executable, const OptionFlags& options = {});
  Engine(Engine&&) noexcept;
  Engine& operator=(Engine&&) noexcept;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  ~Engine();

  /// Gets the device ready. Throws poplar_error if the device's target is not the one that the program was compiled for, or
  /// if the program was compiled out of memory; stream_memory_allocation_error if the host's memory does not suffice.
  void prepare(const Device& device, const RuntimeOptions& options = RuntimeOptions());
  /// Brings the program and its initial values onto the prepared device.
  void deploy();
  /// prepare and deploy.
  void load(const Device& device);
  /// Runs program `prog`. Throws control_program_error if there is none of that number, stream_connection_error if a stream of
  /// the program is not connected, application_runtime_error if the program stops itself, or if a vertex faults (bad address, stack,
  /// division, illegal instruction, an exception that leaves compute): the message names the vertex, its tile, compute set and step,
  /// and the source line if the codelet was compiled with -g. After a fault the engine has to be loaded again.
  void run(unsigned prog = 0, const std::string& debugName = "");
  void run(unsigned prog, const std::string& debugName, const RuntimeOptions& options);
  void loadAndRun(const Device& device, unsigned prog = 0);
  /// Stops a running program at its next step, from any thread, and waits until it has ended; in a callback of the run it does not wait. A
  /// vertex that goes on for 200 ms more is left where it is: then run() throws application_runtime_error, which names it.
  void stop();

  /// Connects a stream to host memory. Block after block is taken from or put to [begin, end), from the beginning again after its
  /// end; with one pointer each block is at `p`. With replicas they take turns, replica 0 first: each block of [begin, end) is of the next
  /// replica; with one pointer replica r's is the r-th block from `p`, so that many blocks must be there. A broadcast stream has
  /// one block for all. Throws stream_connection_error for an unknown handle, or a range that
  /// is not a whole number of blocks.
  void connectStream(StringRef handle, void* begin, void* end);
  void connectStream(StringRef handle, void* p);
  void connectStream(const DataStream& stream, void* begin, void* end);
  void connectStream(const DataStream& stream, void* p);
  template <class T> void connectStream(StringRef handle, ArrayRef<T> buffer) {
    T* begin = const_cast<T*>(buffer.data());
    connectStream(handle, static_cast<void*>(begin), static_cast<void*>(begin + buffer.size()));
  }
  template <class T, class Allocator> void connectStream(StringRef handle, const std::vector<T, Allocator>& buffer) {
    connectStream(handle, ArrayRef<T>(buffer));
  }
  /// Connects a stream to a callback (of all replicas, or of one).
  void connectStreamToCallback(StringRef handle, StreamCallbackHandle callback);
  void connectStreamToCallback(StringRef handle, unsigned index, StreamCallbackHandle callback);
  void connectStreamToCallback(const DataStream& stream, StreamCallbackHandle callback);
  void connectStreamToCallback(const DataStream& stream, unsigned index, StreamCallbackHandle callback);
  /// Connects a host function of replica `index`. Throws stream_connection_error for an unknown one.
  void connectHostFunction(StringRef handle, unsigned index, HostCallbackHandle callback);

  /// Writes the tensor of a handle (Graph::createHostWrite); [begin, end) has its size. With replicas: to all of them.
  void writeTensor(StringRef handle, const void* begin, const void* end);
  void writeTensor(StringRef handle, const void* begin);
  /// Quarters with their metadata, which must not be a constant.
  void writeTensor(StringRef handle, const QuarterMetadata& metadata, const void* begin, const void* end);
  template <class T> void writeTensor(StringRef handle, ArrayRef<T> values) {
    writeTensor(handle, static_cast<const void*>(values.data()), static_cast<const void*>(values.data() + values.size()));
  }
  template <class T, class Allocator> void writeTensor(StringRef handle, const std::vector<T, Allocator>& values) {
    writeTensor(handle, ArrayRef<T>(values));
  }
  /// Reads the tensor of a handle (Graph::createHostRead); [begin, end) has its size. With replicas: one after the other.
  void readTensor(StringRef handle, void* begin, void* end);
  void readTensor(StringRef handle, void* begin);
  /// Quarters with their metadata; with replicas: that of the first one.
  void readTensor(StringRef handle, QuarterMetadata& metadata, void* begin, void* end);
  template <class T> void readTensor(StringRef handle, ArrayRef<T> values) {
    T* begin = const_cast<T*>(values.data());
    readTensor(handle, static_cast<void*>(begin), static_cast<void*>(begin + values.size()));
  }
  template <class T, class Allocator> void readTensor(StringRef handle, std::vector<T, Allocator>& values) {
    readTensor(handle, ArrayRef<T>(values));
  }

  /// Copies one row to or from a remote buffer of one replica.
  void copyToRemoteBuffer(const void* src, std::string handle, int repeatIndex, unsigned replicationIndex = 0);
  void copyFromRemoteBuffer(std::string handle, void* dst, int repeatIndex, unsigned replicationIndex = 0);
  template <class T> void copyToRemoteBuffer(ArrayRef<T> src, std::string handle, int repeatIndex, unsigned replicationIndex = 0) {
    checkRow(handle, src.size() * sizeof(T));
    copyToRemoteBuffer(static_cast<const void*>(src.data()), handle, repeatIndex, replicationIndex);
  }
  template <class T>
  void copyToRemoteBuffer(const std::vector<T>& src, std::string handle, int repeatIndex, unsigned replicationIndex = 0) {
    copyToRemoteBuffer(ArrayRef<T>(src), handle, repeatIndex, replicationIndex);
  }
  template <class T> void copyFromRemoteBuffer(std::string handle, ArrayRef<T> dst, int repeatIndex, unsigned replicationIndex = 0) {
    checkRow(handle, dst.size() * sizeof(T));
    copyFromRemoteBuffer(handle, static_cast<void*>(const_cast<T*>(dst.data())), repeatIndex, replicationIndex);
  }
  template <class T>
  void copyFromRemoteBuffer(std::string handle, std::vector<T>& dst, int repeatIndex, unsigned replicationIndex = 0) {
    copyFromRemoteBuffer(handle, ArrayRef<T>(dst), repeatIndex, replicationIndex);
  }

  /// Writes what the compiler and the runs so far cost. Options: showExecutionSteps, showVarStorage, showPerIpuMemoryUsage,
  /// showOptimizations ("true" / "false").
  void printProfileSummary(std::ostream& out, const OptionFlags& options = {});
  /// The same as data (include pva/pva.hpp).
  pva::Report getReport(bool reportExecution = true);
  /// Old forms: parts of the report as a ProfileValue or text. A reference holds until the next call of the same function.
  const ProfileValue& getGraphProfile(const OptionFlags& options = {});
  const ProfileValue& getExecutionProfile(const OptionFlags& options = {});
  const ProfileValue& getProfile(const OptionFlags& options = {});
  std::string getSummary(const OptionFlags& options = {});
  /// Forgets the cycles of the runs so far.
  void resetExecutionProfile();
  void enableExecutionProfiling();
  void disableExecutionProfiling();

  TimerTimePoint getTimeStamp();
  /// Host time and runs between two moments, as text.
  std::string reportTiming(const TimerTimePoint& start, const TimerTimePoint& end);
  /// Begin and end of every run in host time, as CSV.
  void reportIntervals(std::ostream& out);

  /// Where PrintTensor writes; stderr unless set.
  void setPrintStream(std::ostream& stream);
  void setPrintTensorStream(std::ostream& stream);
  /// Hertz.
  double getTileClockFrequency() const;
  const EngineOptions& getEngineOptions() const;
  void serializeExecutable(std::ostream& out) const;
  /// Makes the next run fail as the device would.
  void simulateError(ErrorCode code);

 private:
  friend struct pando::facade::Access;
  void checkRow(const std::string& handle, std::size_t bytes) const;
  std::unique_ptr<core::EngineState> state_;
};

/// Writes the summary of a report that an Engine wrote (autoReport.directory).
POPLAR_EXPORT void printProfileSummary(std::ostream& out, const std::string& profilePath, const OptionFlags& options = {});
/// The same of what Engine::getGraphProfile and Engine::getExecutionProfile gave, which is less; a value that is no map is left out.
POPLAR_EXPORT void printSummaryOf(std::ostream& out, const ProfileValue& graphProfile, const ProfileValue& executionProfile,
                                  const OptionFlags& options);
template <class Value, class = typename std::enable_if<std::is_same<Value, ProfileValue>::value>::type>
void printProfileSummary(std::ostream& out, const Value& graphProfile, const ProfileValue& executionProfile,
                         const OptionFlags& options = {}) {
  printSummaryOf(out, graphProfile, executionProfile, options);
}
/// The same without the execution.
POPLAR_EXPORT void printGraphSummary(std::ostream& out, const std::string& profilePath, const OptionFlags& options = {});
template <class Value, class = typename std::enable_if<std::is_same<Value, ProfileValue>::value>::type>
void printGraphSummary(std::ostream& out, const Value& graphProfile, const OptionFlags& options = {}) {
  printSummaryOf(out, graphProfile, ProfileValue(), options);
}

}  // namespace poplar

#endif
