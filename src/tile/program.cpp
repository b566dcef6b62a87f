#include "tile/program.h"

#include "base/check.h"

namespace pando::tile {

const char* name_of(Category c) {
  static constexpr const char* kNames[kCategories] = {"variable",        "constant", "vertex state", "vertex code",
                                                      "exchange buffer", "globals",  "stack",        "control code",
                                                      "exchange code",   "reserved", "staging"};
  const auto i = static_cast<std::size_t>(c);
  PANDO_CHECK(i < kCategories);
  return kNames[i];
}

}  // namespace pando::tile
