#include "poplibs/poplin/plan/planning_cache.h"

namespace poplin {

PlanningCache::PlanningCache() : impl(new PlanningCacheImpl) {}
PlanningCache::~PlanningCache() = default;

}  // namespace poplin
