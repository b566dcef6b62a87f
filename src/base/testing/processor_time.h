// Tests that bound how long something takes count the processor's time, which a busy machine does not change, and allow builds that are
// slow by design their factor.
#pragma once

#include <ctime>

#include "base/sanitizers.h"

namespace pando {

// Seconds of all threads of this process.
inline double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// What a release build does in a second takes this build so many at the most.
#if defined(PANDO_SANITIZED)
inline constexpr double kSlowerBuild = 20;
#elif defined(PANDO_DEBUG)
inline constexpr double kSlowerBuild = 10;
#else
inline constexpr double kSlowerBuild = 1;
#endif

}  // namespace pando
