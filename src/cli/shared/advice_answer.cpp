#include "cli/shared/advice_answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "profile/advice.h"
#include "profile/text.h"

namespace pando::cli {

profile::Json advice_answer(const profile::Report& report, std::size_t top) {
  std::vector<profile::Finding> findings = profile::advise(report);
  const std::size_t all = findings.size();
  findings.resize(std::min(all, top));
  return profile::cut_rows({{"question", "advice"}, {"rows", profile::Json::parse(profile::advice_json(findings))}}, all);
}

std::string advice_text(const profile::Json& answer) {
  std::string out = "advice\n";
  const profile::Json& rows = answer["rows"];
  if (rows.empty()) out += "  none\n";
  for (const profile::Json& f : rows) {
    out += fmt::format("  {:.3f} {}  {}: {}\n", f["cost"].get<double>(), f["unit"].get<std::string>(), f["rule"].get<std::string>(),
                       f["title"].get<std::string>());
    if (const auto text = f["text"].get<std::string>(); !text.empty()) out += "      " + text + "\n";
    for (const profile::Json& e : f["evidence"]) out += "    - " + e["text"].get<std::string>() + "\n";
  }
  if (const auto more = answer.value("more", std::size_t{0}); more > 0)
    out += fmt::format("  … and {} more (--top {} gives all)\n", profile::count_text(more), rows.size() + more);
  return out;
}

}  // namespace pando::cli
