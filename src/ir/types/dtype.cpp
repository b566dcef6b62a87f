#include "ir/types/dtype.h"

namespace pando::ir {

namespace {
constexpr std::string_view kNames[kDTypes] = {"bool",    "int8",    "int16",     "int32",      "int64",      "uint8",
                                              "uint16",  "uint32",  "uint64",    "float8_143", "float8_152", "float16",
                                              "float32", "float64", "complex64", "complex128"};
}

std::string_view name_of(DType t) { return kNames[static_cast<std::size_t>(t)]; }

std::optional<DType> dtype_named(std::string_view name) {
  for (std::size_t i = 0; i < kDTypes; ++i) {
    if (kNames[i] == name) return static_cast<DType>(i);
  }
  if (name == "half") return DType::float16;
  if (name == "float") return DType::float32;
  if (name == "double") return DType::float64;
  return std::nullopt;
}

}  // namespace pando::ir
