// Subscripts of a program's ops, each found when it is first asked for: they are the same for every axis and every strategy.
#pragma once

#include "ir/rows/subscripts.h"

#include <memory>
#include <vector>

namespace pando::transform {

class OpSubscripts {
 public:
  // The module must outlive this, and stay as it is.
  explicit OpSubscripts(const ir::Module& module) : module_(module), known_(module.op_count()) {}
  const ir::Subscripts& of(ir::OpId o) {
    auto& known = known_[o.index()];
    if (!known) known = std::make_unique<const ir::Subscripts>(ir::subscripts_of(module_, o));
    return *known;
  }

 private:
  const ir::Module& module_;
  std::vector<std::unique_ptr<const ir::Subscripts>> known_;
};

}  // namespace pando::transform
