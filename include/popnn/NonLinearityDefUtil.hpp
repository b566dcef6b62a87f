#ifndef popnn_NonLinearityDefUtil_hpp
#define popnn_NonLinearityDefUtil_hpp

#include <popnn/NonLinearityDef.hpp>
#include <poputil/VertexTemplates.hpp>
#include <poputil/exceptions.hpp>

#include <istream>
#include <ostream>
#include <string>

namespace popnn {

/// The name of a non-linearity, for people. Throws poplibs_error for a value that is none of the enumerators.
inline const char* asString(const NonLinearityType& type) {
  static const char* const names[] = {
      "sigmoid", "hard sigmoid", "relu", "tanh", "gelu", "gelu_erf", "swish", "softmax", "softmax (stable)", "softmax (scaled, stable)"};
  const int i = static_cast<int>(type);
  if (i < 0 || i > static_cast<int>(NonLinearityType::SOFTMAX_SCALED)) throw poputil::poplibs_error("Unsupported non-linearity type");
  return names[i];
}

inline std::ostream& operator<<(std::ostream& os, const NonLinearityType& type) { return os << asString(type); }

/// Reads one word: sigmoid, hard_sigmoid, relu, tanh, gelu, gelu_erf, swish, softmax, softmax_stable, softmax_scaled. Throws
/// poplibs_error for any other.
inline std::istream& operator>>(std::istream& in, NonLinearityType& type) {
  static const char* const words[] = {"sigmoid",  "hard_sigmoid", "relu",    "tanh",           "gelu",
                                      "gelu_erf", "swish",        "softmax", "softmax_stable", "softmax_scaled"};
  std::string word;
  in >> word;
  for (int i = 0; i <= static_cast<int>(NonLinearityType::SOFTMAX_SCALED); ++i)
    if (word == words[i]) {
      type = static_cast<NonLinearityType>(i);
      return in;
    }
  throw poputil::poplibs_error("Unsupported non-linearity type '" + word + "'");
}

}  // namespace popnn

namespace poputil {

/// How the types that have vertices of their own are written in a vertex's name. Throws poplibs_error for the softmaxes.
template <> struct VertexTemplateToString<popnn::NonLinearityType> {
  static std::string to_string(const popnn::NonLinearityType& nlType) {
    static const char* const names[] = {"SIGMOID", "HARD_SIGMOID", "RELU", "TANH", "GELU", "GELU_ERF", "SWISH"};
    const int i = static_cast<int>(nlType);
    if (i < 0 || i > static_cast<int>(popnn::NonLinearityType::SWISH)) throw poputil::poplibs_error("Unsupported non-linearity type");
    return std::string("popnn::NonLinearityType::") + names[i];
  }
};

}  // namespace poputil

#endif
