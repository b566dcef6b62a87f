#include "profile/damage/damaged.h"

#include "base/error.h"

namespace pando::profile {

void damaged(std::string_view what, const std::string& how) {
  fail(ErrorKind::parse_error, "report-damaged", "the report is damaged: {}: {}", what, how);
}

}  // namespace pando::profile
