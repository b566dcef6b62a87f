#include "poplibs/poplin/plan/planning_cache.h"

namespace poplin {

PlanningCache::PlanningCache() : impl(new PlanningCacheImpl) {}
PlanningCache::~PlanningCache() = default;
std::size_t PlanningCache::size() const { return impl->size(); }

}  // namespace poplin
