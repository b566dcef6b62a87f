// What runs on ranks: programs of devices with channels (split/program.h), dealt out to ranks.
#pragma once

#include "split/program.h"
#include "split/split.h"

#include <cstddef>

namespace pando::ranks {

using split::ChannelEnd;
using split::hash_of;
using split::HostEnd;
using split::is_slots;
using split::kPartBytes;
using split::names_of;
using split::Part;
using split::Program;
using split::split_program;
using split::SplitOptions;

// The rank that holds part `part`: parts are dealt out in order, as evenly as their number allows.
constexpr unsigned rank_of(std::size_t part, std::size_t parts, unsigned ranks) { return static_cast<unsigned>(part * ranks / parts); }

}  // namespace pando::ranks
