// What `allreduce?` and help() say at the prompt: the tiles' own help knows neither the functions between tiles nor this machine.
#pragma once

#include <string>
#include <string_view>

namespace pando::ontile {

// Of one of the eight functions between tiles: how it is called, and what it does; empty for other names. docs/ontile/collectives.md says
// more.
std::string collective_help(std::string_view name);

// What there is to know at the prompt.
std::string prompt_help();

}  // namespace pando::ontile
