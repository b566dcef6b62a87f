// All options of a session: those of lowering (lower/settings/settings.h) and those of src/session/options.
#pragma once

#include "lower/settings/settings.h"

#include <vector>

namespace pando::session {

using lower::OptionRow;
using lower::OptionValue;
using lower::Settings;

// By name.
const std::vector<OptionRow>& option_rows();

}  // namespace pando::session
