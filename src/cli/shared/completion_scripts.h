// Shell completion of `pando`, written from the help of its commands.
#pragma once

#include <span>
#include <string>

#include "cli/shared/help_table.h"

namespace pando::cli {

std::string bash_completion(std::span<const HelpEntry> entries);
std::string zsh_completion(std::span<const HelpEntry> entries);
std::string fish_completion(std::span<const HelpEntry> entries);

}  // namespace pando::cli
