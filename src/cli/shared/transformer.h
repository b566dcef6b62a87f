// Transformers by name or from a file, as search and simulate take them.
#pragma once

#include <string>

#include "search/transformer.h"

namespace pando::cli {

search::Transformer transformer_of(const std::string& name_or_file);

}  // namespace pando::cli
