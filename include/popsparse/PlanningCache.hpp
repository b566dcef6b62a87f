#ifndef popsparse_PlanningCache_hpp
#define popsparse_PlanningCache_hpp

#include <poplar/Export.hpp>

#include <memory>

namespace poplin {
class PlanningCache;
}

namespace popsparse {
namespace dynamic {

class PlanningCacheImpl;
/// Accepted wherever a function takes one. Plans of this library are made in microseconds, from their parameters alone.
class POPLAR_EXPORT PlanningCache {
 public:
  PlanningCache();
  PlanningCache(poplin::PlanningCache* planningCache);
  ~PlanningCache();
  std::unique_ptr<PlanningCacheImpl> impl;
};

}  // namespace dynamic

namespace static_ {

class PlanningCacheImpl;
/// The same for products whose sparsity is known when the graph is built.
class POPLAR_EXPORT PlanningCache {
 public:
  PlanningCache();
  PlanningCache(poplin::PlanningCache* planningCache);
  ~PlanningCache();
  std::unique_ptr<PlanningCacheImpl> impl;
};

}  // namespace static_
}  // namespace popsparse

#endif
