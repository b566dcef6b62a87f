// Where spdlog has a copy of fmt; with a shared fmt it has none.
#include <fmt/printf.h>
