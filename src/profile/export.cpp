#include "profile/export.h"
#include "profile/text.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "base/error.h"

namespace pando::profile {

#define X(stem) extern const ExportRow export_##stem;
#include "export_manifest.inc"
#undef X

namespace {
#define X(stem) &export_##stem,
constexpr const ExportRow* kExports[] = {
#include "export_manifest.inc"
};
#undef X
}  // namespace

std::span<const ExportRow* const> exports() { return kExports; }

const ExportRow& export_named(const std::string& format, const ExportOptions& options) {
  const auto it = std::find_if(std::begin(kExports), std::end(kExports), [&](const ExportRow* e) { return e->name == format; });
  if (it == std::end(kExports)) {
    std::vector<std::string> names;
    for (const ExportRow* e : kExports) names.emplace_back(e->name);
    fail(ErrorKind::invalid_option, "report-export", "a report is not exported as '{}'{}; expected {}", format, nearest_text(format, names),
         fmt::join(names, ", "));
  }
  if (!options.table.empty() && !(*it)->takes_table)
    fail(ErrorKind::invalid_option, "report-export", "'{}' has no table, found '{}'", format, options.table);
  if (options.has_window() && !(*it)->takes_window)
    fail(ErrorKind::invalid_option, "report-export", "'{}' has no time, so cycles do not bound it", format);
  return **it;
}

std::string export_report(const Report& report, const std::string& format, const ExportOptions& options, std::ostream& out) {
  return export_named(format, options).write(report, options, out);
}

}  // namespace pando::profile
