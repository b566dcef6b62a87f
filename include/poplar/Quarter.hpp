#ifndef poplar_Quarter_hpp
#define poplar_Quarter_hpp

#include <poplar/Export.hpp>

#include <cstdint>
#include <ostream>
#include <string>

namespace poplar {

/// How the 8 bits of a QUARTER element are read: a format, and a power of two that the value is multiplied by.
class POPLAR_EXPORT QuarterMetadata {
 public:
  /// F143: 1 sign, 4 exponent, 3 mantissa bits. F152: 1, 5, 2.
  enum class Format { F143 = 0, F152 = 1 };

  QuarterMetadata() : format_(Format::F143), scale_(0) {}
  /// Throws overflow_error if `scale` is not in -32 ... 31.
  QuarterMetadata(Format format, int scale);
  /// From the byte that getBinary() returns.
  explicit QuarterMetadata(unsigned char binary);

  Format getFormat() const { return format_; }
  int getScale() const { return scale_; }
  /// One byte: the format in bit 7 (1: F143), the scale in the low six bits, two's complement.
  unsigned char getBinary() const;

  friend bool operator==(const QuarterMetadata& a, const QuarterMetadata& b) { return a.format_ == b.format_ && a.scale_ == b.scale_; }
  friend bool operator!=(const QuarterMetadata& a, const QuarterMetadata& b) { return !(a == b); }

 private:
  Format format_;
  int scale_;
};

POPLAR_EXPORT std::string toString(QuarterMetadata::Format format);
POPLAR_EXPORT std::ostream& operator<<(std::ostream& out, const QuarterMetadata& metadata);

}  // namespace poplar

#endif
