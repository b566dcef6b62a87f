// What layouts of one program share, from call to call of lay_out().
#pragma once

#include "transform/distribute/layout/layout.h"
#include "transform/distribute/layout/op_subscripts.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace pando::transform {

class LayoutMemo {
 public:
  // The program must outlive this, and stay as it is.
  explicit LayoutMemo(const Program& program) : subscripts(program.module) {}

  OpSubscripts subscripts;
  // By how many microbatches there are and whether outputs are joined: how values lie on the axis of time, which no other axis changes,
  // with the ops that run behind the microbatches.
  struct OnTime {
    Layout layout;
    std::vector<bool> update;
  };
  std::map<std::pair<std::int64_t, bool>, OnTime> on_time;
};

}  // namespace pando::transform
