// A transform that is rejected leaves the program as it was.
#pragma once

#include <utility>

namespace pando::transform {

// Runs `f`, which changes the program. Where `f` throws, the program is what it was before, in all its parts.
template <class Program, class F>
decltype(auto) unless_rejected(Program& program, F&& f) {
  Program before = program;
  try {
    return std::forward<F>(f)();
  } catch (...) {
    program = std::move(before);
    throw;
  }
}

}  // namespace pando::transform
