#include "cli/shared/transformer.h"
#include "base/command/files.h"

#include <algorithm>

namespace pando::cli {

search::Transformer transformer_of(const std::string& name_or_file) {
  const auto has_the_name = [&](const search::Transformer& t) { return t.name == name_or_file; };
  if (!std::ranges::any_of(search::transformers(), has_the_name)) refuse_folder(name_or_file);
  return search::transformer_named(name_or_file);
}

}  // namespace pando::cli
