#include "schedule/synthesised.h"

#include "base/error.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace pando::schedule {

namespace {

constexpr std::string_view kPlain = "synthesised", kInAV = "synthesised-v";
constexpr std::int32_t kMost = 1'000'000;
constexpr double kNoLimit = 1e9;

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> all;
  for (;;) {
    const std::size_t end = std::min(text.find(at), text.size());
    all.push_back(text.substr(0, end));
    if (end == text.size()) return all;
    text.remove_prefix(end + 1);
  }
}

[[noreturn]] void reject(std::string_view name, const std::string& why) {
  fail(ErrorKind::poplar_error, "schedule-name",
       "'{}': {}; expected is synthesised:MEMORY or synthesised-v:MEMORY, with costs of the stages and of a transfer behind it, as in "
       "synthesised:4:100-90:100:80:5",
       name, why);
}

std::int32_t number(std::string_view name, std::string_view text, std::int32_t least) {
  std::int32_t n = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc() || end != text.data() + text.size() || n < least || n > kMost) {
    reject(name, fmt::format("'{}' is not a whole number from {} to {}", text, least, kMost));
  }
  return n;
}

// One for all ranks, or one for each; 0 is none.
std::vector<double> limits(std::string_view name, std::string_view text, std::int32_t ranks) {
  std::vector<double> all;
  for (std::string_view n : split(text, '-')) {
    const std::int32_t limit = number(name, n, 0);
    all.push_back(limit > 0 ? limit : kNoLimit);
  }
  if (all.size() != 1 && all.size() != static_cast<std::size_t>(ranks)) {
    reject(name, fmt::format("{} limits of memory for {} ranks", all.size(), ranks));
  }
  return all;
}

std::vector<double> costs(std::string_view name, std::string_view text, std::size_t stages) {
  std::vector<double> all;
  for (std::string_view n : split(text, '-')) all.push_back(number(name, n, 1));
  if (all.size() != 1 && all.size() != stages) reject(name, fmt::format("{} costs for {} stages", all.size(), stages));
  return all;
}

std::string text_of(const std::vector<double>& costs, double scale) {
  std::vector<std::int32_t> all;
  for (double c : costs) all.push_back(std::clamp(static_cast<std::int32_t>(std::lround(c * scale)), 1, kMost));
  if (std::all_of(all.begin(), all.end(), [&](std::int32_t c) { return c == all[0]; })) all.resize(1);
  return fmt::format("{}", fmt::join(all, "-"));
}

std::string_view form_of(std::string_view name) { return name.substr(0, name.find(':')); }

}  // namespace

bool is_synthesised_in_a_v(std::string_view name) { return form_of(name) == kInAV; }
bool is_synthesised(std::string_view name) { return form_of(name) == kPlain || is_synthesised_in_a_v(name); }

bool has_costs(std::string_view name) { return is_synthesised(name) && std::count(name.begin(), name.end(), ':') > 1; }

Problem problem_of(std::string_view name, const Shape& shape) {
  const std::vector<std::string_view> parts = split(name, ':');
  if (!is_synthesised(name) || parts.size() < 2 || parts.size() > 6 || parts.size() == 3) {
    reject(name, fmt::format("{} parts", parts.size()));
  }
  Problem p;
  p.shape = shape;
  p.in_a_v = is_synthesised_in_a_v(name);
  p.memory = limits(name, parts[1], shape.ranks);
  if (parts.size() == 2) return p;
  const auto stages = static_cast<std::size_t>(shape.ranks) * static_cast<std::size_t>(shape.stages_per_rank);
  p.costs.forward = costs(name, parts[2], stages);
  p.costs.input_gradient = costs(name, parts[3], stages);
  p.costs.weight_gradient = parts.size() > 4 ? costs(name, parts[4], stages) : p.costs.input_gradient;
  if (parts.size() > 5) p.costs.transfer = number(name, parts[5], 0);
  return p;
}

std::string synthesised_name(bool in_a_v, std::int32_t memory) { return fmt::format("{}:{}", in_a_v ? kInAV : kPlain, memory); }

std::string name_of(const Problem& p) {
  const double largest = *std::max_element(p.costs.forward.begin(), p.costs.forward.end()), scale = largest > 0 ? 100 / largest : 1;
  std::vector<std::int32_t> memory;
  for (double m : p.memory) memory.push_back(m < kMost ? static_cast<std::int32_t>(m) : 0);
  const auto transfer = std::clamp(static_cast<std::int32_t>(std::lround(p.costs.transfer * scale)), 0, kMost);
  return fmt::format("{}:{}:{}:{}:{}{}", p.in_a_v ? kInAV : kPlain, fmt::join(memory, "-"), text_of(p.costs.forward, scale),
                     text_of(p.costs.input_gradient, scale), text_of(p.costs.weight_gradient, scale),
                     transfer > 0 ? fmt::format(":{}", transfer) : "");
}

}  // namespace pando::schedule
