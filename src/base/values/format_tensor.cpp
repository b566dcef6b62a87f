#include "base/values/format_tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/values/element_text.h"

namespace pando {
namespace {

enum FloatFormat : unsigned { kAuto, kFixed, kScientific, kNone };

template <class T>
T load(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

double real_at(const char* bytes, ElementType type, std::uint64_t i) {
  const char* const at = bytes + i * size_of(type);
  if (type == ElementType::half) return float_from_half(load<std::uint16_t>(at));
  if (type == ElementType::float_) return load<float>(at);
  return load<double>(at);
}

// Bools are shown as numbers.
std::string integer_text(const char* bytes, ElementType type, std::uint64_t i) {
  return element_text(type == ElementType::boolean ? ElementType::unsigned_char : type, bytes + i * size_of(type));
}

class Formatter {
 public:
  Formatter(const char* bytes, ElementType type, const Shape& shape, const PrintFormat& format)
      : bytes_(bytes), type_(type), shape_(shape), format_(format) {
    std::uint64_t elements = 1;
    for (const std::uint64_t d : shape) elements *= d;
    empty_ = std::find(shape.begin(), shape.end(), 0) != shape.end();
    summarise_ = elements > format.summarise_threshold;
    // quarter has no value without its metadata: its bits are shown.
    real_ = type == ElementType::half || type == ElementType::float_ || type == ElementType::double_;
    if (real_) choose_digits();
    if (!empty_) visit(0, 0, [&](std::uint64_t i) { width_ = std::max(width_, text(i).size()); });
  }

  std::string run() {
    if (shape_.empty()) return text(0);
    // Without elements there may be any number of rows.
    if (empty_) return fmt::format("{}{}", format_.open_bracket, format_.close_bracket);
    level(0, 0);
    return std::move(out_);
  }

 private:
  // The positions of dimension `d` that are shown.
  std::uint64_t first_hidden(std::size_t d) const { return hides(d) ? format_.edge_items : shape_[d]; }
  std::uint64_t first_after(std::size_t d) const { return hides(d) ? shape_[d] - format_.edge_items : shape_[d]; }
  bool hides(std::size_t d) const { return summarise_ && shape_[d] > 2 * std::uint64_t{format_.edge_items}; }

  template <class F>
  void visit(std::size_t d, std::uint64_t offset, F&& f) const {
    if (d == shape_.size()) return f(offset);
    for (std::uint64_t i = 0; i < shape_[d]; ++i) {
      if (i == first_hidden(d)) i = first_after(d);
      if (i < shape_[d]) visit(d + 1, offset * shape_[d] + i, f);
    }
  }

  // `digits` significant digits for the largest number shown; all numbers get the same decimals.
  void choose_digits() {
    double most = 0, least = INFINITY;
    if (!empty_)
      visit(0, 0, [&](std::uint64_t i) {
        const double v = std::fabs(real_at(bytes_, type_, i));
        if (!std::isfinite(v)) return;
        most = std::max(most, v);
        if (v > 0) least = std::min(least, v);
      });
    const int before = most >= 10 ? static_cast<int>(std::floor(std::log10(most))) + 1 : 1;
    decimals_ = std::max(static_cast<int>(format_.digits) - before, 0);
    const bool spread = before > static_cast<int>(format_.digits) || (std::isfinite(least) && least < 1e-4);
    scientific_ = format_.float_format == kScientific || (format_.float_format == kAuto && spread);
  }

  std::string text(std::uint64_t i) const {
    if (!real_) return integer_text(bytes_, type_, i);
    const double v = real_at(bytes_, type_, i);
    if (!std::isfinite(v)) return std::isnan(v) ? "nan" : v < 0 ? "-inf" : "inf";
    if (format_.float_format == kNone)
      return type_ == ElementType::double_ ? fmt::format("{}", v) : fmt::format("{}", static_cast<float>(v));
    if (scientific_) return fmt::format("{:.{}e}", v, std::max(static_cast<int>(format_.digits) - 1, 0));
    return fmt::format("{:.{}f}", v, decimals_);
  }

  void level(std::size_t d, std::uint64_t offset) {
    if (d + 1 == shape_.size()) return row(d, offset);
    out_ += format_.open_bracket;
    out_ += '\n';
    for (std::uint64_t i = 0; i < shape_[d]; ++i) {
      if (i == first_hidden(d)) {
        out_.append(d + 1, ' ');
        out_ += "...\n";
        i = first_after(d);
      }
      out_.append(d + 1, ' ');
      level(d + 1, offset * shape_[d] + i);
      if (format_.separator != ' ' && i + 1 < shape_[d]) out_ += format_.separator;
      out_ += '\n';
    }
    out_.append(d, ' ');
    out_ += format_.close_bracket;
  }

  // One row, broken where it gets wider than a line.
  void row(std::size_t d, std::uint64_t offset) {
    std::size_t column = d + 1;
    out_ += format_.open_bracket;
    for (std::uint64_t i = 0; i < shape_[d]; ++i) {
      std::string item;
      if (i == first_hidden(d)) {
        item = "...";
        i = first_after(d) - 1;
      } else {
        item = text(offset * shape_[d] + i);
        if (item.size() < width_) item.insert(0, width_ - item.size(), ' ');
      }
      const bool first = column == d + 1;
      if (!first) out_ += format_.separator;
      if (!first && column + 1 + item.size() + 1 > format_.max_line_width) {
        if (format_.separator == ' ') out_.pop_back();
        out_ += '\n';
        out_.append(d + 1, ' ');
        column = d + 1;
      } else if (!first) {
        ++column;
      }
      out_ += item;
      column += item.size();
    }
    out_ += format_.close_bracket;
  }

  const char* const bytes_;
  const ElementType type_;
  const Shape& shape_;
  const PrintFormat& format_;
  bool empty_ = false, summarise_ = false, real_ = false, scientific_ = false;
  int decimals_ = 0;
  std::size_t width_ = 0;
  std::string out_;
};

}  // namespace

std::string format_tensor(const void* bytes, ElementType type, const Shape& shape, const PrintFormat& format) {
  return Formatter(static_cast<const char*>(bytes), type, shape, format).run();
}

}  // namespace pando
