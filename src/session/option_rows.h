// All options of a session: those of lowering (lower/terms/settings.h) and those of src/session/options.
#pragma once

#include "lower/terms/settings.h"

#include <vector>

namespace pando::session {

using lower::OptionRow;
using lower::OptionValue;
using lower::Settings;

// By name.
const std::vector<OptionRow>& option_rows();

}  // namespace pando::session
