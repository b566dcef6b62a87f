#include "ir/text/describe.h"

#include "ir/op_row.h"

namespace pando::ir {

std::string described(const Module& module, OpId op) {
  const Op& o = module.op(op);
  std::string text =
      fmt::format("{}{} '{}' of graph '{}'", module.row(op).name, o.in_place ? "_" : "", module.name_of(op), module.graph(o.graph).name);
  if (const std::string at = module.location_text(op); !at.empty()) text += ", at " + at;
  return text;
}

std::string described(const Module& module, ValueId value) {
  const Value& v = module.value(value);
  if (v.producer.valid()) return fmt::format("'{}', made by {}", module.name_of(value), described(module, v.producer));
  return fmt::format("'{}', input {} of graph '{}'", module.name_of(value), v.index, module.graph(v.graph).name);
}

}  // namespace pando::ir
