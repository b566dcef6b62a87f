#include "poplar/TypeConversion.hpp"

#include <limits>

#include "base/error.h"
#include "base/values/convert.h"
#include "facade/state/state.h"

namespace poplar {
namespace {

using pando::ElementType;
using pando::ErrorKind;

pando::Float8Format format_of(const QuarterMetadata& m) {
  return m.getFormat() == QuarterMetadata::Format::F143 ? pando::Float8Format::f143 : pando::Float8Format::f152;
}

}  // namespace

namespace pando_detail {

void convertElements(const Type& from, const void* src, const Type& to, void* dst, std::size_t n, const QuarterMetadata& metadata,
                     bool nan_on_overflow) {
  const ElementType source = pando::facade::Access::element_type(from);
  const ElementType target = pando::facade::Access::element_type(to);
  if (n == 0) return;
  if (!src || !dst)
    pando::fail(ErrorKind::poplar_error, "null-values", "a conversion of {} elements of type {} is given a null pointer {}", n,
                from.toString(), src ? "to write to" : "to read");
  const auto overflow = nan_on_overflow ? pando::Float8Overflow::nan : pando::Float8Overflow::greatest;
  const auto form = [&](ElementType t) { return pando::ValueForm{t, format_of(metadata), metadata.getScale(), overflow}; };
  pando::convert_values(form(source), src, form(target), dst, n);
}

}  // namespace pando_detail

static_assert(sizeof(QuarterMetadata) == 1);

QuarterMetadata::QuarterMetadata(Format format, int scale)
    : binary_(static_cast<unsigned char>((format == Format::F143 ? 0x80 : 0) | (scale & 0x3f))) {
  if (scale < -32 || scale > 31) pando::fail(ErrorKind::overflow_error, "quarter-scale", "the scale {} is not in -32 ... 31", scale);
}

QuarterMetadata::QuarterMetadata(unsigned char binary) : binary_(binary & 0xbf) {}

std::string toString(QuarterMetadata::Format format) { return format == QuarterMetadata::Format::F143 ? "F143" : "F152"; }

std::string QuarterMetadata::toString() const { return "{" + poplar::toString(getFormat()) + ", " + std::to_string(getScale()) + "}"; }
std::ostream& operator<<(std::ostream& out, const QuarterMetadata& m) { return out << m.toString(); }

QuarterMetadata calculateMetadataForConversion(ArrayRef<float> values, CostMetric) {
  QuarterMetadata best;
  double best_cost = std::numeric_limits<double>::infinity();
  for (const auto format : {QuarterMetadata::Format::F143, QuarterMetadata::Format::F152})
    for (int scale = -32; scale <= 31; ++scale) {
      const QuarterMetadata candidate(format, scale);
      double cost = 0;
      for (const float v : values) {
        const std::uint8_t code = pando::float8_from_double(format_of(candidate), v, pando::Float8Overflow::greatest, scale);
        const double error = static_cast<double>(pando::float_from_float8(format_of(candidate), code, scale)) - v;
        cost += error * error;
      }
      if (cost < best_cost) best_cost = cost, best = candidate;
    }
  return best;
}

}  // namespace poplar
