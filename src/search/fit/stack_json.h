// Stacks as JSON files: what `pando fit` writes.
#pragma once

#include "search/stack.h"

#include <string>
#include <string_view>

namespace pando::search {

std::string to_json(const Stack& s);
// Rejects (poplar_error, id stack-file) what to_json would not write: the message names the member.
Stack stack_from_json(std::string_view text, const std::string& file);
// A stack by name, or a file (anything that ends in .json).
Stack stack_of(const std::string& name_or_file);

}  // namespace pando::search
