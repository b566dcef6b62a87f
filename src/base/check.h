// A broken invariant of ours: prints where and what, and aborts. Never fires on user input; the user's errors go through
// base/error.h.
#pragma once

namespace pando {
[[noreturn]] void check_failed(const char* file, int line, const char* condition);
}

#define PANDO_CHECK(condition) ((condition) ? static_cast<void>(0) : ::pando::check_failed(__FILE__, __LINE__, #condition))
