// A whole text into an open file.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <string_view>

namespace pando {

// False, with errno, where not all of it could be written.
inline bool write_all(int file, std::string_view content) {
  while (!content.empty()) {
    const ssize_t n = ::write(file, content.data(), content.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    content.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

}  // namespace pando
