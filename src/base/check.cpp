#include "base/check.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace pando {

void check_failed(const char* file, int line, const char* condition) {
  const char* name = std::strstr(file, "src/");
  std::fprintf(stderr, "pando: broken invariant at %s:%d: %s\n", name ? name : file, line, condition);
  std::abort();
}

}  // namespace pando
