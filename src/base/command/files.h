// Files as the tools use them. "-" is standard output.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>

namespace pando {

// Throws file_load_error if it is a folder; what is not there is none.
void reject_folder(const std::string& path);
// Throws file_load_error if it cannot be read: if it is no regular file, too, but for pipes that the process has (/dev/stdin, /dev/fd/N).
std::string read_file(const std::string& path);
// The whole file or, if it cannot be written, the one that was there. Throws poplar_error then.
void write_file(const std::string& path, const std::string& text);
// The same of what is too large to be in memory: `write` is called once.
void write_file_in_parts(const std::string& path, const std::function<void(std::ostream&)>& write);
// After an error of standard output that has been said: the end of the program need not say it again.
void forget_standard_output();

}  // namespace pando
