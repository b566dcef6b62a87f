// The switches of compile::Options, once: engine options, their documentation and the fuzzer's combinations are made from this list.
#pragma once

#include "compile/compile.h"

namespace pando::compile {

// Results are the same with and without.
struct Switch {
  const char* name;
  bool Options::* field;
  const char* what;
};

inline constexpr Switch kSwitches[] = {
    {"bind", &Options::bind, "operands that are only read may be bound to the source's bytes"},
    {"mergeMoves", &Options::merge_moves, "adjacent moves are joined"},
    {"mergeCopies", &Options::merge_copies, "copies that follow each other and do not depend on one another are one exchange"},
    {"regularCopies", &Options::regular_copies, "the strides of a copied tensor tell what it reads, not its moves one by one"},
    {"shareMemory", &Options::share_memory, "variables that are not live together share addresses"},
    {"splitVariables", &Options::split_variables, "liveness is per range of bytes, not per variable"},
    {"inferIoTiles", &Options::infer_io_tiles, "tiles that only host and remote copies touch get a stream of their own"},
};

}  // namespace pando::compile
