// The lowered program for Graphviz: steps in order, loops as boxes around them.
#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "profile/export.h"

namespace pando::profile {

namespace {

constexpr std::size_t kMostSteps = 2'000;

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '"' || c == '\\' ? std::string("\\") + c : c == '\n' ? std::string("\\n") : std::string(1, c);
  return out;
}

const char* shape_of(const std::string& kind) { return kind == "compute" ? "box" : kind == "exchange" ? "ellipse" : "plaintext"; }

// The parts directly inside of `around` (from 1; 0: of the program).
void write_parts(const Report& report, std::size_t around, std::size_t n, int depth, std::ostream& out) {
  const std::string indent(static_cast<std::size_t>(2 * depth), ' ');
  for (std::size_t i = around; i < n; ++i) {
    const ProgramStep& s = report.program[i];
    if (s.inside != around) continue;
    const std::string name = escaped(s.name.empty() ? s.kind : s.name);
    if (stands_around(s)) {
      out << fmt::format("{}subgraph cluster_{} {{\n{}  label=\"{} {}\";\n", indent, i, indent, s.kind, name);
      write_parts(report, i + 1, n, depth + 1, out);
      out << indent << "}\n";
    } else {
      out << fmt::format("{}s{} [label=\"{}\\n{}\", shape={}];\n", indent, i, name, escaped(s.kind), shape_of(s.kind));
    }
  }
}

std::string write_dot(const Report& report, const ExportOptions&, std::ostream& out) {
  const std::size_t n = std::min(report.program.size(), kMostSteps);
  out << "digraph program {\n  rankdir=TB;\n  node [fontname=\"sans-serif\"];\n";
  write_parts(report, 0, n, 1, out);
  std::size_t last = n;
  for (std::size_t i = 0; i < n; ++i) {
    if (stands_around(report.program[i])) continue;
    if (last < n) out << fmt::format("  s{} -> s{};\n", last, i);
    last = i;
  }
  if (n < report.program.size()) out << fmt::format("  more [label=\"... and {} more\", shape=plaintext];\n", report.program.size() - n);
  out << "}\n";
  return n < report.program.size() ? fmt::format("the first {} of {} steps are drawn", n, report.program.size()) : "";
}

}  // namespace

extern const ExportRow export_dot;
constinit const ExportRow export_dot = {"dot", ".dot", "the lowered program for Graphviz, the first 2,000 steps", write_dot};

}  // namespace pando::profile
