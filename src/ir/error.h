// The user's errors at the model level: one thrower. What Python and C++ see is pando::ModelError (include/pando/model_error.hpp); each
// kind is one exception class of Python.
#pragma once

#include "pando/model_error.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace pando::ir {

using ErrorClass = pando::ModelError::Class;

// Throws ModelError with the text "<message> [<id>]"; `location` is the user's line, where one is known.
[[noreturn]] void throw_model_error(ErrorClass kind, std::string_view id, const std::string& message, const std::string& location = {});

template <class... Args>
[[noreturn]] void reject(ErrorClass kind, std::string_view id, fmt::format_string<Args...> format, Args&&... args) {
  throw_model_error(kind, id, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace pando::ir
