// Which sanitizer this build runs under: PANDO_ASAN or PANDO_TSAN, with its interface, and PANDO_SANITIZED for either.
#pragma once

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#define PANDO_ASAN 1
#define PANDO_SANITIZED 1
#endif
#if __has_feature(thread_sanitizer)
#include <sanitizer/tsan_interface.h>
#define PANDO_TSAN 1
#define PANDO_SANITIZED 1
#endif
#endif
