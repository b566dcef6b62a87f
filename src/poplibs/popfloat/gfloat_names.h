// The enumerators that options take, by name.
#pragma once

#include <map>
#include <string>

#include "popfloat/experimental/GfloatExpr.hpp"

namespace popfloat::experimental {

const std::map<std::string, RoundType>& round_types();
const std::map<std::string, SRDensityType>& densities();

}  // namespace popfloat::experimental
