// A report in other programs' formats. One file of export/ each; the build finds it, the command line, the docs and the tests loop over
// them.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>

#include "profile/report.h"

namespace pando::profile {

struct ExportOptions {
  std::string table;                               // of formats that show one table (csv)
  std::uint64_t from = 0, to = ~std::uint64_t{0};  // of formats that show what was executed: cycles [from, to)
  std::uint64_t most_events = 10'000'000;          // ... and of each stream so many executed steps
  bool has_window() const { return from > 0 || to != ~std::uint64_t{0}; }
};

struct ExportRow {
  std::string_view name, ending, help;  // ending: of the file's name
  // Streams: what it writes is never in memory as a whole. Returns what it has left out, for people; "": nothing.
  std::string (*write)(const Report& report, const ExportOptions& options, std::ostream& out);
  bool takes_table = false, takes_window = false;
};

std::span<const ExportRow* const> exports();
// Throws invalid_option for a format or a table that there is not, and for an option that the format does not have.
const ExportRow& export_named(const std::string& format, const ExportOptions& options);
std::string export_report(const Report& report, const std::string& format, const ExportOptions& options, std::ostream& out);

}  // namespace pando::profile
