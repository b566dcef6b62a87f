#include "session/option_rows.h"

#include <algorithm>

namespace pando::session {

#define X(name) OptionRow option_##name();
#include "session_option_manifest.inc"
#undef X

const std::vector<OptionRow>& option_rows() {
  static const std::vector<OptionRow> rows = [] {
    std::vector<OptionRow> all = lower::option_rows();
#define X(name) all.push_back(option_##name());
#include "session_option_manifest.inc"
#undef X
    std::ranges::sort(all, {}, &OptionRow::name);
    return all;
  }();
  return rows;
}

}  // namespace pando::session
