#include "poplibs/popfloat/gfloat_names.h"
#include "popfloat/experimental/GfloatExprUtil.hpp"
#include "poplibs/poputil/reject.h"

namespace popfloat::experimental {

namespace {

template <class Enum>
std::string name_in(const std::map<std::string, Enum>& names, Enum value, const char* function) {
  for (const auto& [name, known] : names)
    if (known == value) return name;
  poputil::reject("gfloat-name", "{}: {} is none of the {} values", function, static_cast<int>(value), names.size());
}

const std::map<std::string, FormatType> kFormatTypes = {
    {"INVALID_FORMAT", FormatType::INVALID_FORMAT},         {"IEEE_FP16", FormatType::IEEE_FP16},
    {"QUANTISED_FP32", FormatType::QUANTISED_FP32},         {"QUANTISED_FP16", FormatType::QUANTISED_FP16},
    {"MIN_NORM_ALIGN_GF8", FormatType::MIN_NORM_ALIGN_GF8}, {"ONE_FIVE_TWO_GF8", FormatType::ONE_FIVE_TWO_GF8},
    {"MAX_NORM_ALIGN_GF8", FormatType::MAX_NORM_ALIGN_GF8}, {"BFLOAT16", FormatType::BFLOAT16},
    {"NO_DENORM_GF16", FormatType::NO_DENORM_GF16},         {"ENABLE_DENORM_GF16", FormatType::ENABLE_DENORM_GF16}};
const std::map<std::string, SpecType> kSpecTypes = {{"FP32", SpecType::FP32}, {"BF16", SpecType::BF16},   {"FP16", SpecType::FP16},
                                                    {"INT8", SpecType::INT8}, {"INT16", SpecType::INT16}, {"INT32", SpecType::INT32},
                                                    {"AUTO", SpecType::AUTO}};

}  // namespace

const std::map<std::string, RoundType>& round_types() {
  static const std::map<std::string, RoundType> names = {{"INV", RoundType::INV}, {"RZ", RoundType::RZ}, {"RN", RoundType::RN},
                                                         {"RA", RoundType::RA},   {"RU", RoundType::RU}, {"RD", RoundType::RD},
                                                         {"SR", RoundType::SR},   {"SX", RoundType::SX}};
  return names;
}

const std::map<std::string, SRDensityType>& densities() {
  static const std::map<std::string, SRDensityType> names = {{"INVALID", SRDensityType::INVALID},
                                                             {"UNIFORM", SRDensityType::UNIFORM},
                                                             {"NORMAL", SRDensityType::NORMAL},
                                                             {"TRUNCATED_NORMAL", SRDensityType::TRUNCATED_NORMAL},
                                                             {"BERNOULLI", SRDensityType::BERNOULLI},
                                                             {"LOGISTIC", SRDensityType::LOGISTIC},
                                                             {"TRUNCATED_LOGISTIC", SRDensityType::TRUNCATED_LOGISTIC},
                                                             {"LAPLACE", SRDensityType::LAPLACE},
                                                             {"TRUNCATED_LAPLACE", SRDensityType::TRUNCATED_LAPLACE},
                                                             {"LOGIT_NORMAL", SRDensityType::LOGIT_NORMAL},
                                                             {"TRUNCATED_LOGIT_NORMAL", SRDensityType::TRUNCATED_LOGIT_NORMAL}};
  return names;
}

std::string roundTypeToString(RoundType rmode) { return name_in(round_types(), rmode, "roundTypeToString"); }
std::string formatTypeToString(FormatType fmt) { return name_in(kFormatTypes, fmt, "formatTypeToString"); }
std::string srDensityTypeToString(SRDensityType dist) { return name_in(densities(), dist, "srDensityTypeToString"); }
std::string specTypeToString(SpecType specType) { return name_in(kSpecTypes, specType, "specTypeToString"); }

poplar::Type specTypeToPoplarType(SpecType specType) {
  switch (specType) {
    case SpecType::FP32:
    case SpecType::BF16: return poplar::FLOAT;
    case SpecType::FP16: return poplar::HALF;
    case SpecType::INT8: return poplar::CHAR;
    case SpecType::INT16: return poplar::SHORT;
    case SpecType::INT32: return poplar::INT;
    case SpecType::AUTO: break;
  }
  poputil::reject("gfloat-type", "specTypeToPoplarType: {} is no one type", specTypeToString(specType));
}

}  // namespace popfloat::experimental
