// The name and line of a step that has no tensors (loops, branches): no SourceScope reaches it.
#pragma once

#include "lower/parts/op_lowering.h"

namespace pando::lower {

inline poplar::DebugContext step_context(const OpLowering& o) {
  const ir::LocationId location = o.module().op(o.op()).location;
  if (!location.valid()) return {o.name()};
  const ir::Location& at = o.module().location(location);
  return {o.name(), poplar::SourceLocation("", at.file.c_str(), at.line)};
}

}  // namespace pando::lower
