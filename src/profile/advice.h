// Advice: what makes a program slow or large, with the evidence. One rule in one file of advice/; the build finds it, the command line, the
// docs and the tests loop over them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profile/report.h"

namespace pando::profile {

// Where to look: rows of the report's tables.
struct Evidence {
  std::string text;
  std::optional<std::uint64_t> tile = {}, order = {}, step = {}, variable = {}, compute_set = {}, exchange = {};
};

struct Finding {
  std::string title;  // one line
  std::string text;   // what it is, and what to do
  double cost = 0;    // share of all cycles, or of the fullest tile's memory, 0 to 1
  std::vector<Evidence> evidence;
  std::string rule = {}, unit = {};  // from the rule's row
};

// What a rule adds up over the steps, one number of each. A report may have 10^7 steps, which are read a block at a time, so they are
// looked at once for all rules.
using StepPart = std::function<double(const StepCycles& step)>;
struct PartSum {
  double sum = 0;
  std::vector<std::size_t> worst;  // rows of Report::steps: at most three of which it is most, none of which it is 0
};
struct StepSums {
  double busy = 0;             // cycles of all steps of all streams, waiting left out
  std::vector<PartSum> parts;  // of the rule, in its order
};

struct AdviceRow {
  std::string_view name;
  std::string_view unit;  // of the cost: "cycles" or "bytes"
  std::string_view help;
  std::optional<Finding> (*find)(const Report& report, const StepSums& sums);
  // Of rules about steps.
  std::vector<StepPart> (*parts)(const Report& report) = nullptr;
};

std::span<const AdviceRow* const> advice_rules();
// What the rules find, the greatest cost first.
std::vector<Finding> advise(const Report& report);
// As the document `advice` of a report file.
std::string advice_json(const std::vector<Finding>& findings);

// Out of memory: the variable that moves fewest bytes from the fullest tile when it lies evenly on more tiles (at least so many), and frees
// enough there. Nothing if no single one does, or if it fits.
struct Spread {
  std::uint32_t resident = 0;
  std::uint64_t tiles = 0;
};
std::optional<Spread> smallest_spread(const Report& report);

// How Report::compiled_change ends where the program fits then.
inline constexpr std::string_view kCompiledFits = "compiled so, the program fits";
// Out of memory: first what was compiled (Report::compiled_change) if it fits then, then changes each of which makes the fullest tile fit,
// the one that moves fewest bytes first; last what was compiled and does not fit. Empty if it fits.
std::vector<std::string> smallest_changes(const Report& report);

}  // namespace pando::profile
