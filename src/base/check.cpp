#include "base/check.h"

#include "base/check_handler.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace pando {

namespace {

std::atomic<CheckHandler> check_handler{nullptr};

}  // namespace

void set_check_handler(CheckHandler handler) { check_handler = handler; }

void check_failed(const char* file, int line, const char* condition) {
  const char* name = std::strstr(file, "src/");
  const std::string text = std::string("broken invariant at ") + (name ? name : file) + ":" + std::to_string(line) + ": " + condition;
  if (const CheckHandler handler = check_handler) handler(text);
  std::fprintf(stderr, "pando: %s\n", text.c_str());
  std::abort();
}

}  // namespace pando
