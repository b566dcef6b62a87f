// Chrome trace events (chrome://tracing, Perfetto): a row for each stream, a cycle as a microsecond.
#include <ostream>

#include "profile/export.h"

namespace pando::profile {

namespace {

constexpr std::size_t kMostEvents = 1'000'000;

// The events of rows [begin, end), in order, loops unfolded; false when there is no room for more.
bool unfold(const Report& report, const std::vector<TraceRow>& rows, std::size_t begin, std::size_t end, std::uint64_t& now,
            std::vector<TraceSlice>& out) {
  for (std::size_t i = begin; i < end; i += rows[i].rows + 1)
    for (std::uint64_t k = 0; k < rows[i].times; ++k) {
      if (rows[i].rows > 0) {
        if (!unfold(report, rows, i + 1, i + 1 + rows[i].rows, now, out)) return false;
        continue;
      }
      if (out.size() == kMostEvents) return false;
      const StepCycles& s = report.steps[rows[i].step];
      now += rows[i].gap;
      out.push_back({s.stream, s.name, s.kind, now, now + rows[i].cycles});
      now += rows[i].cycles;
    }
  return true;
}

void write_perfetto(const Report& report, const std::string&, std::ostream& out) {
  std::vector<TraceSlice> slices;
  for (const std::vector<TraceRow>& rows : report.traces) {
    std::uint64_t now = 0;
    unfold(report, rows, 0, rows.size(), now, slices);
  }
  write_chrome_trace(slices, out);
}

}  // namespace

extern const ExportRow export_perfetto;
constinit const ExportRow export_perfetto = {"perfetto", ".json",
                                             "the executed steps for Perfetto and chrome://tracing, the first 1,000,000", write_perfetto};

}  // namespace pando::profile
