// What happens when an invariant of Pando's own is broken: a defect of Pando, whatever the program did.
#pragma once

#include <poplar/Export.hpp>

#include <string>

namespace pando {

/// Called with a text that says where and what. It may throw: the caller gets the exception, and must not use the object that it was called
/// on again. If it returns, or there is none, the process aborts.
using BrokenInvariant = void (*)(const std::string& text);

/// For the graph level and the levels below; null takes the handler away.
POPLAR_EXPORT void on_broken_invariant(BrokenInvariant handler);

}  // namespace pando
