// Calls of what popc compiled.
#pragma once

// A sanitizer that compares function types looks for them before the function's first byte. Codelets have none there, and before the
// first function of a module there may be no memory at all.
#define PANDO_CALLS_CODELETS __attribute__((no_sanitize("function")))
