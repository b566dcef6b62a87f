#include <map>
#include <ostream>

#include "base/text/chrome_trace.h"
#include "profile/report.h"

namespace pando::profile {

// One thread row per stream, in order of first appearance; one complete event ("X") per slice.
void write_chrome_trace(const std::vector<TraceSlice>& slices, std::ostream& out) {
  ChromeTrace trace(out, R"("displayTimeUnit":"ns","otherData":{"unit":"1 us is 1 cycle"})");
  std::map<std::string, std::int64_t> rows;
  for (const TraceSlice& s : slices) {
    const auto row = static_cast<std::int64_t>(rows.size());
    if (rows.emplace(s.stream, row).second) trace.name_thread(0, row, s.stream);
  }
  for (const TraceSlice& s : slices)
    trace.slice({.name = s.name.empty() ? s.kind : s.name, .thread = rows[s.stream], .category = s.kind}, s.begin, s.end - s.begin);
}

}  // namespace pando::profile
