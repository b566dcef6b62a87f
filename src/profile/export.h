// A report in other programs' formats. One file of export/ each; the build finds it, the command line, the docs and the tests loop over
// them.
#pragma once

#include <iosfwd>
#include <span>
#include <string>
#include <string_view>

#include "profile/report.h"

namespace pando::profile {

struct ExportRow {
  std::string_view name, ending, help;  // ending: of the file's name
  // `table`: of formats that show one table (csv); the others reject one with invalid_option.
  void (*write)(const Report& report, const std::string& table, std::ostream& out);
  bool takes_table = false;
};

std::span<const ExportRow* const> exports();
// Throws invalid_option for a format or a table that there is not.
void export_report(const Report& report, const std::string& format, const std::string& table, std::ostream& out);

}  // namespace pando::profile
