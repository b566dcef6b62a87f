#include "profile/export.h"

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

void export_report(const Report& report, const std::string& format, const std::string& table, std::ostream& out) {
  const auto it = std::find_if(std::begin(kExports), std::end(kExports), [&](const ExportRow* e) { return e->name == format; });
  if (it == std::end(kExports)) {
    std::vector<std::string_view> names;
    for (const ExportRow* e : kExports) names.push_back(e->name);
    fail(ErrorKind::invalid_option, "report-export", "a report is not exported as '{}'; expected {}", format, fmt::join(names, ", "));
  }
  if (!table.empty() && !(*it)->takes_table)
    fail(ErrorKind::invalid_option, "report-export", "'{}' has no table, found '{}'", format, table);
  (*it)->write(report, table, out);
}

}  // namespace pando::profile
