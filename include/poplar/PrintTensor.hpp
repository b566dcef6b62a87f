#ifndef poplar_PrintTensor_hpp
#define poplar_PrintTensor_hpp

#include <poplar/Export.hpp>

namespace poplar {

/// AUTO: fixed, unless the values' magnitudes differ too much. NONE: whatever the C++ library chooses.
enum class FloatFormat { AUTO = 0, FIXED = 1, SCIENTIFIC = 2, NONE = 3 };

/// How PrintTensor writes a tensor.
class PrintTensorFmt {
 public:
  using FloatFormat = poplar::FloatFormat;
  /// A tensor of more than `summariseThreshold` elements shows `edgeItems` elements at both ends of each dimension. `digits` is the
  /// number of significant digits of a float.
  PrintTensorFmt(unsigned summariseThreshold = 1000, unsigned edgeItems = 3, unsigned maxLineWidth = 75, unsigned digits = 8,
                 FloatFormat floatFormat = FloatFormat::AUTO, char separator = ' ', char openBracket = '[', char closeBracket = ']')
      : summariseThreshold_(summariseThreshold),
        edgeItems_(edgeItems),
        maxLineWidth_(maxLineWidth),
        digits_(digits),
        floatFormat_(floatFormat),
        separator_(separator),
        openBracket_(openBracket),
        closeBracket_(closeBracket) {}

  unsigned summariseThreshold() const { return summariseThreshold_; }
  unsigned edgeItems() const { return edgeItems_; }
  unsigned maxLineWidth() const { return maxLineWidth_; }
  unsigned digits() const { return digits_; }
  FloatFormat floatFormat() const { return floatFormat_; }
  char separator() const { return separator_; }
  char openBracket() const { return openBracket_; }
  char closeBracket() const { return closeBracket_; }

 private:
  unsigned summariseThreshold_, edgeItems_, maxLineWidth_, digits_;
  FloatFormat floatFormat_;
  char separator_, openBracket_, closeBracket_;
};

}  // namespace poplar

#endif
