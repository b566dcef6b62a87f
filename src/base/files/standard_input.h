// Standard input of a program that was started without one.
#pragma once

#include <fcntl.h>
#include <unistd.h>

namespace pando {

// A closed standard input becomes an empty one. Otherwise the next file that is opened would be read as if somebody typed it.
inline void open_standard_input() {
  if (fcntl(STDIN_FILENO, F_GETFD) < 0) static_cast<void>(open("/dev/null", O_RDONLY));
}

}  // namespace pando
