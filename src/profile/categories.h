// The categories of memory: what each is, and what makes it less.
#pragma once

#include <string_view>

namespace pando::profile {

struct CategoryText {
  std::string_view name, meaning, reduce;
};
// Of a name that is not known: empty texts.
CategoryText category_text(std::string_view name);

}  // namespace pando::profile
