// The viewer's page with reports in it: one HTML file that needs no server and no network.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace pando::view {

// A report as the page shows it.
struct ShownReport {
  std::string name;   // for people
  std::string bytes;  // the file
};

// Throws parse_error if these are not the bytes of a report file, version 4: no report, another version, cut off, a damaged index. The page
// checks each part of the report when it shows it.
void check_report(std::string_view bytes);
// Whether they begin as those of a report file do.
bool is_report(std::string_view bytes);

// The page with these reports; with two, it compares them. `fabrics` says how the tiles of an IPU lie on machines, as columns x rows x
// lanes: "ipu1=16x19x4 ipu2=16x23x4". Throws poplar_error if this build has no page, and says why.
std::string write_page(std::span<const ShownReport> reports, std::string_view fabrics);

// The report that comes with the tool: two training steps of a network on four IPUs, pipelined.
ShownReport demo_report();

std::string base64(std::string_view bytes);

}  // namespace pando::view
