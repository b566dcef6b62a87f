// Errors of the model level that have a place in a text, a file or a program: said as base/source_location.h says them.
#pragma once

#include "base/source_location.h"
#include "ir/error.h"

namespace pando::ir {

// Throws ModelError with the text "<place>: <message> [<id>]" and the place as its location.
template <class... Args>
[[noreturn]] void reject_at(ErrorClass kind, std::string_view id, const SourceLocation& at, fmt::format_string<Args...> format,
                            Args&&... args) {
  const std::string place = text_of(at);
  throw ModelError(kind, std::string(id), fmt::format("{}: {} [{}]", place, fmt::format(format, std::forward<Args>(args)...), id), place);
}

}  // namespace pando::ir
