// Rows that were measured of machines by name, in files of measured_machines/, which are text in the program.
#pragma once

#include "simulate/measured.h"

#include <string_view>

namespace pando::simulate {

// What products reach with a power limit of 500 W of what they reach with 700.
inline constexpr double kShareAt500Watts = 5.0 / 7;

// Null: there are none of this machine.
const Measured* shipped_rows(std::string_view machine);

}  // namespace pando::simulate
