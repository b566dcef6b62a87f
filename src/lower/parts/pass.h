// Element-wise ops that follow each other and are computed in one pass.
#pragma once

#include "lower/row.h"

#include <vector>

namespace pando::lower {

struct Pass {
  struct Member {
    ir::OpId op;
    ir::ValueId result;
    Any expression;
    unsigned depth;  // how many members its expression contains, one in the other
  };
  std::vector<Leaf> leaves;
  std::vector<Member> members;
  // Of that result; null without one.
  const Member* find(ir::ValueId v) const;
};

}  // namespace pando::lower
