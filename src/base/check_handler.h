// What happens at a broken invariant beside aborting.
#pragma once

#include <string>

namespace pando {

// Called with a text that says where and what, before the process aborts. It may throw: then whoever asked for the work gets the exception,
// and must not use what it was working on. Null: none. Each shared library has a handler of its own.
using CheckHandler = void (*)(const std::string& text);
void set_check_handler(CheckHandler handler);

}  // namespace pando
