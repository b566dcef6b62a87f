#include "profile/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ostream>

#include "base/text/similar_names.h"

namespace pando::profile {

namespace {

constexpr std::array<const char*, 9> kSide = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};
constexpr std::array<const char*, 9> kRise = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

bool starts_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }

// The first `n` characters.
std::string_view head(std::string_view s, std::size_t n) {
  std::size_t i = 0;
  for (std::size_t seen = 0; i < s.size(); ++i)
    if (starts_character(s[i]) && seen++ == n) break;
  return s.substr(0, i);
}

std::string_view tail(std::string_view s, std::size_t n) {
  std::size_t i = s.size();
  for (std::size_t seen = 0; i > 0 && seen < n;)
    if (starts_character(s[--i])) ++seen;
  return s.substr(i);
}

// The smallest of 1, 2, 4, 8 ... (bytes) or 1, 2, 5, 10 ... (cycles) that is not less than `n`.
std::uint64_t round_step(std::uint64_t n, Unit unit) {
  if (unit == Unit::bytes) {
    std::uint64_t step = 1;
    while (step < n) step *= 2;
    return step;
  }
  for (std::uint64_t power = 1;; power *= 10)
    for (std::uint64_t digit : {1, 2, 5})
      if (digit * power >= n) return digit * power;
}

// `columns` values: each the highest of its part of the positions. Fewer positions than columns: each is repeated.
std::vector<std::uint64_t> columns_of(const std::vector<std::uint64_t>& values, std::size_t columns) {
  std::size_t n = values.size();
  std::vector<std::uint64_t> out(n == 0 ? 0 : columns);
  for (std::size_t c = 0; c < out.size(); ++c) {
    std::size_t begin = c * n / columns, end = std::max(begin + 1, (c + 1) * n / columns);
    out[c] = *std::max_element(values.begin() + begin, values.begin() + end);
  }
  return out;
}

}  // namespace

std::string count_text(std::uint64_t n) {
  std::string digits = std::to_string(n), out;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) out += ',';
    out += digits[i];
  }
  return out;
}

std::string bytes_text(std::uint64_t n) {
  if (n < 1024) return fmt::format("{} B", n);
  double value = static_cast<double>(n);
  const char* unit = "B";
  for (const char* next : {"KiB", "MiB", "GiB", "TiB"}) {
    if (value < 1023.95) break;
    value /= 1024;
    unit = next;
  }
  return fmt::format("{:.1f} {}", value, unit);
}

std::string percent_text(double fraction) { return fmt::format("{:.1f} %", 100 * fraction); }

std::string short_count_text(std::uint64_t n) {
  if (n < 100'000) return count_text(n);
  double value = static_cast<double>(n);
  const char* unit = "";
  for (const char* next : {"k", "M", "G", "T", "P", "E"}) {
    if (value < 999.5) break;
    value /= 1000;
    unit = next;
  }
  return fmt::format("{:.{}f} {}", value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0, unit);
}

std::string time_text(double seconds) {
  for (auto [scale, unit] : {std::pair{1.0, "s"}, {1e-3, "ms"}, {1e-6, "us"}})
    if (seconds >= scale) return fmt::format("{:.3g} {}", seconds / scale, unit);
  return fmt::format("{:.3g} ns", seconds / 1e-9);
}

std::string nearest_text(const std::string& word, const std::vector<std::string>& known) {
  constexpr std::size_t kBeginning = 4;
  if (const std::vector<std::string> near = similar_names(word, known); !near.empty()) return "; the nearest is " + near.front();
  if (word.size() >= kBeginning)
    for (const std::string& name : known)
      if (name.starts_with(word.substr(0, kBeginning))) return "; the nearest is " + name;
  return {};
}

std::size_t display_width(std::string_view s) { return static_cast<std::size_t>(std::count_if(s.begin(), s.end(), starts_character)); }

std::string cut(std::string_view s, std::size_t width) {
  if (display_width(s) <= width) return std::string(s);
  if (width == 0) return {};
  std::size_t keep = width - 1;
  return std::string(head(s, keep / 2)) + "…" + std::string(tail(s, keep - keep / 2));
}

std::string left(std::string_view s, std::size_t width) {
  std::string out = cut(s, width);
  return out + std::string(width - display_width(out), ' ');
}

std::string right(std::string_view s, std::size_t width) {
  std::string out = cut(s, width);
  return std::string(width - display_width(out), ' ') + out;
}

std::string bar(double fraction, std::size_t width) {
  double clamped = std::clamp(fraction, 0.0, 1.0);
  auto eighths = static_cast<std::size_t>(clamped * static_cast<double>(width) * 8 + 0.5);
  if (clamped > 0 && eighths == 0) eighths = 1;
  std::string out;
  for (std::size_t i = 0; i < eighths / 8; ++i) out += kSide[8];
  return out + kSide[eighths % 8];
}

Bins bins_of(const std::vector<std::uint64_t>& values, std::size_t most_bins, Unit unit) {
  if (values.empty()) return {};
  auto [low, high] = std::minmax_element(values.begin(), values.end());
  Bins bins;
  // Rounding the first edge down may need one bin more: the next step then.
  for (std::uint64_t least = (*high - *low) / most_bins + 1;; least = bins.width + 1) {
    bins.width = round_step(least, unit);
    bins.begin = *low / bins.width * bins.width;
    if ((*high - bins.begin) / bins.width < most_bins) break;
  }
  bins.counts.assign((*high - bins.begin) / bins.width + 1, 0);
  for (std::uint64_t v : values) ++bins.counts[(v - bins.begin) / bins.width];
  return bins;
}

void print_histogram(const std::vector<std::uint64_t>& values, Unit unit, std::ostream& out) {
  if (values.empty()) return;
  Bins bins = bins_of(values, 12, unit);
  auto short_text = [unit](std::uint64_t v) { return unit == Unit::bytes ? bytes_text(v) : count_text(v); };
  // Where a short text would stand at both edges of a bin, all edges are whole numbers.
  bool is_short = true;
  for (std::size_t i = 0; i < bins.counts.size(); ++i)
    is_short = is_short && short_text(bins.begin + i * bins.width) != short_text(bins.begin + (i + 1) * bins.width);
  auto text = [&](std::uint64_t v) { return is_short ? short_text(v) : count_text(v); };
  std::uint64_t most = *std::max_element(bins.counts.begin(), bins.counts.end());
  for (std::size_t i = 0; i < bins.counts.size(); ++i) {
    std::uint64_t begin = bins.begin + i * bins.width;
    std::string blocks = bar(static_cast<double>(bins.counts[i]) / static_cast<double>(most), 40);
    out << fmt::format("    {} ≤ {} < {} {}{}{}\n", right(text(begin), 11), unit == Unit::bytes ? "bytes" : "cycles",
                       left(text(begin + bins.width), 11), right(count_text(bins.counts[i]), 8), blocks.empty() ? "" : "  ", blocks);
  }
}

void print_area_chart(const AreaChart& chart, std::ostream& out) {
  std::vector<std::uint64_t> columns = columns_of(chart.values, chart.width);
  if (columns.empty()) return;
  std::uint64_t top = std::max<std::uint64_t>(1, chart.floor + *std::max_element(columns.begin(), columns.end()));
  double rows = static_cast<double>(chart.height) * 8;
  auto eighths_of = [&](std::uint64_t v) {
    return static_cast<std::size_t>(static_cast<double>(v) / static_cast<double>(top) * rows + 0.5);
  };
  std::size_t floor_rows = (eighths_of(chart.floor) + 4) / 8;
  if (chart.floor > 0 && floor_rows == 0) floor_rows = 1;
  for (std::size_t r = chart.height; r-- > 0;) {
    std::string label = r + 1 == chart.height ? bytes_text(top) : r == 0 ? "0 B" : "";
    std::string line;
    for (std::uint64_t v : columns) {
      std::size_t height = std::max(eighths_of(chart.floor + v), floor_rows * 8);
      if (v > 0 && height <= floor_rows * 8) height = floor_rows * 8 + 1;
      std::size_t here = height <= r * 8 ? 0 : std::min<std::size_t>(8, height - r * 8);
      line += r < floor_rows ? "░" : kRise[here];
    }
    out << "    " << right(label, 10) << " ┤" << line.substr(0, line.find_last_not_of(' ') + 1) << '\n';
  }
}

std::string spark_line(const std::vector<std::uint64_t>& values, std::size_t width) {
  std::vector<std::uint64_t> columns = columns_of(values, width);
  if (columns.empty()) return {};
  double top = static_cast<double>(std::max<std::uint64_t>(1, *std::max_element(columns.begin(), columns.end())));
  std::string out;
  for (std::uint64_t v : columns) {
    auto height = static_cast<std::size_t>(static_cast<double>(v) / top * 7 + 0.5);
    out += kRise[1 + height];
  }
  return out;
}

}  // namespace pando::profile
