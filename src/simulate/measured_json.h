// The member `measured` of a machine's file (cluster_json.h).
#pragma once

#include "simulate/measured.h"

#include <nlohmann/json.hpp>

#include <string>

namespace pando::simulate {

nlohmann::ordered_json to_json(const Measured& measured);

// Of the machine: what seconds are shares of.
struct MeasuredPeaks {
  double half_operations = 0, single_operations = 0, eight_bit_operations = 0, launch = 0;
};
// Rejects (poplar_error, id cluster-file) members that are not known or missing, and rows that cannot be: sizes and times that are not
// positive, products that are quicker than the machine's peak.
Measured measured_from_json(const nlohmann::ordered_json& j, const MeasuredPeaks& peaks, const std::string& file);

}  // namespace pando::simulate
