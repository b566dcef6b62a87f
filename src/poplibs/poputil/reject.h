// The errors of the op libraries: one thrower. Each has a short id that tests and users can search for, and a message that begins with the
// function and says what was found and what was expected.
#pragma once

#include <fmt/format.h>

#include <poplar/exceptions.hpp>
#include <poputil/exceptions.hpp>

#include <string_view>

namespace poputil {

// Throws poplibs_error "<message> [<id>]".
template <class... Args>
[[noreturn]] void reject(std::string_view id, fmt::format_string<Args...> format, Args&&... args) {
  throw poplibs_error(fmt::format(format, std::forward<Args>(args)...) + fmt::format(" [{}]", id));
}

// The same as poplar::invalid_option: an option that there is not, or a value that it does not take.
template <class... Args>
[[noreturn]] void reject_option(std::string_view id, fmt::format_string<Args...> format, Args&&... args) {
  throw poplar::invalid_option(fmt::format(format, std::forward<Args>(args)...) + fmt::format(" [{}]", id));
}

}  // namespace poputil
