// Numbers and bars of the text report. Widths count characters as a terminal shows them, not bytes.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace pando::profile {

std::string count_text(std::uint64_t n);        // "1,234,567"
std::string bytes_text(std::uint64_t n);        // "12 B", "12.3 KiB", "1.2 MiB"
std::string percent_text(double fraction);      // "61.2 %"
std::string short_count_text(std::uint64_t n);  // at most 6 characters: "12,345", "1.23 M"
std::string time_text(double seconds);          // "9.28 us"
// Of a word that is none of `known`: "; the nearest is slowest_steps", by edits, or by how it begins; "" if none is near.
std::string nearest_text(const std::string& word, const std::vector<std::string>& known);

std::size_t display_width(std::string_view s);
// Exactly `width` columns wide: padded, or cut in the middle with "…".
std::string left(std::string_view s, std::size_t width);
std::string right(std::string_view s, std::size_t width);
// At most `width` columns.
std::string cut(std::string_view s, std::size_t width);

// `fraction` of `width` columns as block characters, in eighths. A value above 0 shows at least the thinnest block.
std::string bar(double fraction, std::size_t width);

enum class Unit { bytes, cycles };

// Equal bins with round edges.
struct Bins {
  std::uint64_t begin = 0;
  std::uint64_t width = 1;
  std::vector<std::uint64_t> counts;
};
Bins bins_of(const std::vector<std::uint64_t>& values, std::size_t most_bins, Unit unit);

// How many of `values` lie where: one line per bin.
//
//        4.0 - 6.0 KiB  ███████████▌            812
void print_histogram(const std::vector<std::uint64_t>& values, Unit unit, std::ostream& out);

// A chart of `width` x `height` characters over the positions 0..n-1 of `values`, on a floor that is drawn lighter. Where
// several positions share a column the highest is shown.
//
//    12.0 KiB ┤      ▂▄█
//             ┤   ▃▆███
//         0 B ┤░░░░░░░░░
struct AreaChart {
  std::vector<std::uint64_t> values;  // above the floor
  std::uint64_t floor = 0;
  std::size_t width = 72;
  std::size_t height = 6;
};
void print_area_chart(const AreaChart& chart, std::ostream& out);
// The same as one line of blocks.
std::string spark_line(const std::vector<std::uint64_t>& values, std::size_t width);

}  // namespace pando::profile
