// "1 tile", "2 tiles".
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace pando {

// `noun`: in the singular, of those whose plural ends in s.
template <class N>
std::string counted(N n, std::string_view noun) {
  return fmt::format("{} {}{}", n, noun, n == N(1) ? "" : "s");
}

}  // namespace pando
