// Files that are gone when the process is, or with the next process if this one was killed.
#pragma once

#include <string>

namespace pando {

// TMPDIR, or /tmp. Throws no_environment if that is no folder.
std::string temporary_folder();

// A new empty file there, of the user alone, whose name says which process made it. The first call also removes what processes left that
// are gone since an hour and more. Throws no_environment if it cannot be made.
std::string temporary_file(const std::string& ending = {});

}  // namespace pando
