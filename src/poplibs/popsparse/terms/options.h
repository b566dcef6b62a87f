// Options of sparse products.
#pragma once

#include <poplar/OptionFlags.hpp>
#include <poplar/Type.hpp>

namespace popsparse {

struct Options {
  double memory = 0.6;    // part of a tile's memory that a product may take while it runs
  double oversize = 0.3;  // what buckets hold beyond an even share
  poplar::Type partials = poplar::FLOAT;
  bool spills = false;       // every block lies in the bucket after its own
  unsigned width_parts = 0;  // parts of the dense side's columns; 0: planned
};

// Throws poplar::invalid_option.
Options dynamic_options(const poplar::OptionFlags& flags);
Options known_options(const poplar::OptionFlags& flags);

}  // namespace popsparse
