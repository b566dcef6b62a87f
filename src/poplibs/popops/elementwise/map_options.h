// The options of popops::map and its family.
#pragma once

#include <poplar/OptionFlags.hpp>

#include <string>

namespace popops::internal {

struct MapOptions {
  bool generate_codelet = true;
  bool force_codelet = false;
  bool read_broadcast = true;
  bool optimise = true;
};

// Throws invalid_option.
MapOptions parse_options(const poplar::OptionFlags& flags);

}  // namespace popops::internal
