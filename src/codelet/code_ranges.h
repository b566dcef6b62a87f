// Which code of the process is codelets' code: for signal handlers.
#pragma once

#include <cstdint>

namespace pando {

// Of a loaded object, by its handle of dlopen(): its executable segments. At most some thousands are known at a time; the others count as
// the host's code.
void add_code_of(void* handle);
void remove_code_of(void* handle);
// Safe in a signal handler.
bool is_codelet_code(std::uintptr_t address);
// What the object's addresses are moved by.
std::uintptr_t load_address(void* handle);

}  // namespace pando
