// Two reports, matched by name and sorted by difference.
#pragma once

#include "profile/question.h"
#include "profile/report.h"

namespace pando::profile {

// "totals", "steps" (cycles by stream, kind and name), "memory" (bytes by category and name), "codelets": lists of `a`, `b`, `difference`
// (b - a) and what they belong to; of the last three at most `top` rows that differ.
Json compare(const Report& a, const Report& b, std::size_t top);

}  // namespace pando::profile
