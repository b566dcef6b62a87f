#ifndef popfloat_experimental_CastToHalf_hpp
#define popfloat_experimental_CastToHalf_hpp

#include <popfloat/experimental/CastToGfloat.hpp>

#include <poplar/Export.hpp>

#include <cstdint>

/// Half precision on the host, as bits.
namespace popfloat {
namespace experimental {

/// Rounded to nearest, ties to even. Numbers too great for half become NaN with `enNanoo`, else the greatest number of their sign;
/// infinities stay infinite, NaN stays NaN with its sign.
POPLAR_EXPORT std::uint16_t singleToHalf(float value, bool enNanoo = false);

/// Exact: each number of half precision is one of single precision. NaN keeps its bits.
POPLAR_EXPORT float halfToSingle(std::uint16_t ihalf);

}  // namespace experimental
}  // namespace popfloat

#endif
