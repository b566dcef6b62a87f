#ifndef poplar_RuntimeOptions_hpp
#define poplar_RuntimeOptions_hpp

#include <poplar/Export.hpp>
#include <poplar/OptionFlags.hpp>

namespace poplar {

/// Options that can change from run to run: target.syncMethod, target.syncPollPeriodUs, target.exceptionPollPeriodUs,
/// target.hostSyncTimeout, streamCallbacks.multiThreadMode, streamCallbacks.numaAware, streamCallbacks.numWorkerThreads. They are
/// checked; this machine has no use for them.
class POPLAR_EXPORT RuntimeOptions {
 public:
  RuntimeOptions() = default;
  /// Throws invalid_option for an unknown option or a value that is not allowed.
  RuntimeOptions(const OptionFlags& flags);
  const OptionFlags& getOptionFlags() const { return flags_; }

 private:
  OptionFlags flags_;
};

}  // namespace poplar

#endif
