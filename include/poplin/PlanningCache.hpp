#ifndef poplin_PlanningCache_hpp
#define poplin_PlanningCache_hpp

#include <poplar/Export.hpp>

#include <cstddef>
#include <memory>

namespace poplin {

class PlanningCacheImpl;

/// Plans by what they are for. A cache that is passed to several calls spares planning the same product or convolution again.
/// Calls that share one must not run at the same time.
class POPLAR_EXPORT PlanningCache {
 public:
  PlanningCache();
  ~PlanningCache();
  PlanningCache(const PlanningCache&) = delete;
  PlanningCache& operator=(const PlanningCache&) = delete;

  /// The number of plans in it.
  std::size_t size() const;

  /// The library's own.
  std::unique_ptr<PlanningCacheImpl> impl;
};

}  // namespace poplin

#endif
