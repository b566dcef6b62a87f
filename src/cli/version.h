// What `pando --version` prints.
#pragma once

#include <string>

namespace pando::cli {

// Lines: the version of Pando first, by itself; then its parts, the processor's features and level, where caches lie.
std::string versions();

}  // namespace pando::cli
