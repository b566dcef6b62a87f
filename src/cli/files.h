// Files as the commands use them. "-" is standard output.
#pragma once

#include <string>

namespace pando::cli {

// Throws file_load_error if it cannot be read.
std::string read_file(const std::string& path);
// Throws poplar_error if it cannot be written.
void write_file(const std::string& path, const std::string& text);

}  // namespace pando::cli
