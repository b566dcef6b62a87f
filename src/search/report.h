// What a search found, of a transformer or of a program, as people read it.
#pragma once

#include "search/found.h"
#include "simulate/simulate.h"

#include <array>
#include <string>
#include <vector>

namespace pando::search {

struct Report {
  struct Line {
    std::string strategy;
    double seconds = 0, bytes = 0;
    std::vector<std::string> equals;
  };
  std::vector<Line> best, frontier;
  Certificate certificate;
  // What a step has so many of.
  double rate = 1;
  const char* rate_name = "samples";
  // Of programs: times of microseconds, MiB.
  bool is_small = false;
  // What the best's time and memory are made of; what follows the frontier.
  std::string of_the_best, notes;
};

// A line for each, then the certificate; a strategy that nobody searched for has none.
std::string to_table(const Report& report);
// Memory against samples (or steps) a second: all that were found, the frontier as a line, the limit.
std::string frontier_svg(const Report& report, double memory_limit);

// Of a result, by its report_of(); `text` writes a strategy.
template <class E, class Text>
std::vector<Report::Line> lines_of(const std::vector<FoundOf<E>>& found, Text&& text) {
  std::vector<Report::Line> lines;
  for (const auto& f : found) lines.push_back({text(f.strategy), f.estimate.seconds, f.estimate.memory_bytes(), f.equals});
  return lines;
}
template <class R>
  requires requires(const R& r) { report_of(r); }
std::string to_table(const R& result) {
  return to_table(report_of(result));
}

// "weights 3.25, gradients 2.10": GiB by kind, those that have some; "weights 837376": bytes.
std::string kinds_text(const std::array<double, simulate::kMemoryKinds>& bytes);
std::string kinds_text(const simulate::KindBytes& bytes);

}  // namespace pando::search
