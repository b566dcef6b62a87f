// Version 3 of the report: one JSON object (docs/level/profile.md).
#include "profile/export.h"

namespace pando::profile {

namespace {
std::string write_json(const Report& report, const ExportOptions&, std::ostream& out) {
  write_json(report, out);
  return {};
}
}  // namespace

extern const ExportRow export_json;
constinit const ExportRow export_json = {"json", ".json", "the report as one JSON object, as version 3 was", write_json};

}  // namespace pando::profile
