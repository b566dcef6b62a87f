#ifndef poplar_Quarter_hpp
#define poplar_Quarter_hpp

#include <poplar/Export.hpp>

#include <cstdint>
#include <ostream>
#include <string>

namespace poplar {

/// How the 8 bits of a QUARTER element are read: a format, and a power of two that the value is multiplied by. In memory it is the byte
/// that getBinary() returns: a QUARTER_METADATA tensor can be read into one.
class POPLAR_EXPORT QuarterMetadata {
 public:
  /// F143: 1 sign, 4 exponent, 3 mantissa bits. F152: 1, 5, 2.
  enum class Format { F143 = 0, F152 = 1 };

  QuarterMetadata() : QuarterMetadata(Format::F143, 0) {}
  /// Throws overflow_error if `scale` is not in -32 ... 31.
  QuarterMetadata(Format format, int scale);
  /// From the byte that getBinary() returns.
  explicit QuarterMetadata(unsigned char binary);

  Format getFormat() const { return binary_ & 128 ? Format::F143 : Format::F152; }
  int getScale() const { return (binary_ & 31) - (binary_ & 32); }
  /// One byte: the format in bit 7 (1: F143), the scale in the low six bits, two's complement.
  unsigned char getBinary() const { return binary_; }
  /// "{F143, -1}"
  std::string toString() const;

  friend bool operator==(const QuarterMetadata& a, const QuarterMetadata& b) { return a.binary_ == b.binary_; }
  friend bool operator!=(const QuarterMetadata& a, const QuarterMetadata& b) { return !(a == b); }

 private:
  unsigned char binary_;
};

POPLAR_EXPORT std::string toString(QuarterMetadata::Format format);
POPLAR_EXPORT std::ostream& operator<<(std::ostream& out, const QuarterMetadata& metadata);

}  // namespace poplar

#endif
