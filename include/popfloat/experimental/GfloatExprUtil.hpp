#ifndef popfloat_experimental_GfloatExprUtil_hpp
#define popfloat_experimental_GfloatExprUtil_hpp

#include <popfloat/experimental/GfloatExpr.hpp>

#include <poplar/Export.hpp>
#include <poplar/Type.hpp>
#include <poputil/VertexTemplates.hpp>

#include <string>

namespace popfloat {
namespace experimental {

/// The names of the enumerators: "RZ", "IEEE_FP16", "NORMAL", "FP32". Throw poputil::poplibs_error for a value that is none of them.
POPLAR_EXPORT std::string roundTypeToString(RoundType rmode);
POPLAR_EXPORT std::string formatTypeToString(FormatType fmt);
POPLAR_EXPORT std::string srDensityTypeToString(SRDensityType dist);
POPLAR_EXPORT std::string specTypeToString(SpecType specType);

/// FLOAT for FP32 and BF16, HALF for FP16, CHAR, SHORT and INT for INT8, INT16 and INT32. Throws poputil::poplibs_error for AUTO.
POPLAR_EXPORT poplar::Type specTypeToPoplarType(SpecType specType);

}  // namespace experimental
}  // namespace popfloat

namespace poputil {

template <> struct VertexTemplateToString<popfloat::experimental::RoundType> {
  static std::string to_string(const popfloat::experimental::RoundType& rmode) {
    return "popfloat::experimental::RoundType::" + popfloat::experimental::roundTypeToString(rmode);
  }
};
template <> struct VertexTemplateToString<popfloat::experimental::FormatType> {
  static std::string to_string(const popfloat::experimental::FormatType& fmt) {
    return "popfloat::experimental::FormatType::" + popfloat::experimental::formatTypeToString(fmt);
  }
};
template <> struct VertexTemplateToString<popfloat::experimental::SRDensityType> {
  static std::string to_string(const popfloat::experimental::SRDensityType& dist) {
    return "popfloat::experimental::SRDensityType::" + popfloat::experimental::srDensityTypeToString(dist);
  }
};
template <> struct VertexTemplateToString<popfloat::experimental::SpecType> {
  static std::string to_string(const popfloat::experimental::SpecType& spec) {
    return "popfloat::experimental::SpecType::" + popfloat::experimental::specTypeToString(spec);
  }
};

}  // namespace poputil

#endif
