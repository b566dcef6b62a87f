#ifndef poplar_EngineOptions_hpp
#define poplar_EngineOptions_hpp

#include <poplar/Export.hpp>
#include <poplar/OptionFlags.hpp>

namespace poplar {

/// The options an engine was made with, after defaults and the environment variable POPLAR_ENGINE_OPTIONS.
class POPLAR_EXPORT EngineOptions {
 public:
  EngineOptions() = default;
  /// Throws invalid_option for an unknown option or a value that is not allowed.
  explicit EngineOptions(const OptionFlags& flags);
  const OptionFlags& getOptionFlags() const { return flags_; }

 private:
  OptionFlags flags_;
};

}  // namespace poplar

#endif
