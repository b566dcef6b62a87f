// The errors of sessions, prompts and disk images: one thrower. Each has a short id that tests and users can search for, and a message that
// says what was found and what was expected. (What is built on the library's public API cannot use the thrower below it, base/error.h.)
#pragma once

#include <fmt/format.h>

#include <poplar/exceptions.hpp>

#include <string_view>

namespace pando::ontile {

// Throws an Exception "<message> [<id>]".
template <class Exception, class... Args>
[[noreturn]] void reject(std::string_view id, fmt::format_string<Args...> format, Args&&... args) {
  throw Exception(fmt::format(format, std::forward<Args>(args)...) + fmt::format(" [{}]", id));
}

}  // namespace pando::ontile
