// The C++ runtime's exceptions of a thread, laid out by its binary interface.
#pragma once

namespace pando::exec {

struct ExceptionState {
  void* caught;
  unsigned uncaught;
};

}  // namespace pando::exec
