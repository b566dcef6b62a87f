#include "lower/parts/op_lowering.h"

#include "base/check.h"
#include "lower/parts/parts.h"
#include "lower/terms/element_types.h"
#include "lower/terms/moving.h"

#include <algorithm>

namespace pando::lower {

using ir::OpId;
using ir::ValueId;
using poplar::Tensor;

OpLowering::OpLowering(Parts& parts, OpId op)
    : parts_(parts),
      module_(parts.module),
      libraries_(parts.libraries),
      op_(op),
      graph_(parts.places.graph_of(op)),
      taken_(parts.module.operands(op).size()),
      copied_(taken_.size()) {}

poplar::program::Sequence& OpLowering::program() { return parts_.cursor.program(); }
HostChannels& OpLowering::channels() { return parts_.channels; }
std::string OpLowering::name() const {
  const std::string& own = module().name_of(op_);
  return own.empty() ? std::string(module().row(op_).name) : own;
}
bool OpLowering::lies_here(std::size_t i) const {
  return module().row(op_).moves || &parts_.places.graph_at(operand_type(i).place) == &graph_;
}
const Slot& OpLowering::slot(std::size_t i) {
  if (copied_[i]) return *copied_[i];
  const ir::Type& type = operand_type(i);
  const Slot& there = parts_.storages.slot(module().operand(op_, i));
  if (lies_here(i)) return there;
  const Tensor here = add_linear(graph_, type, name() + "/operand");
  if (here.numElements() > 0) program().add(poplar::program::Copy(there.tensor, here, false, name() + "/operand"));
  copied_[i] = parts_.storages.fresh_slot(here);
  return *copied_[i];
}
Tensor OpLowering::operand(std::size_t i) { return slot(i).tensor; }
Tensor OpLowering::fresh(std::size_t i) { return parts_.layouts.new_tensor(module().result(op_, i)); }

// One value given twice is two storages when both are taken.
Tensor OpLowering::keep(std::size_t i, Slot slot) {
  for (const auto& other : taken_) {
    if (!other || !other->tensor.intersectsWith(slot.tensor)) continue;
    const Tensor copy = graph_.clone(slot.tensor, name() + "/copy");
    program().add(poplar::program::Copy(slot.tensor, copy));
    slot = parts_.storages.fresh_slot(copy);
  }
  taken_[i] = std::move(slot);
  return taken_[i]->tensor;
}
// Whether the op reads the value as another operand, too, which lies where it will have been overwritten.
bool OpLowering::is_read_too(std::size_t i) const {
  for (std::size_t k = 0; k < taken_.size(); ++k) {
    if (k != i && !taken_[k] && parts_.storages.resolved(module().operand(op_, k)) == parts_.storages.resolved(module().operand(op_, i)))
      return true;
  }
  return false;
}

// What lies at another place is taken as the copy of it here: the result lies where the op is.
Tensor OpLowering::take(std::size_t i) {
  if (!lies_here(i)) return keep(i, slot(i));
  if (!is_read_too(i)) return keep(i, parts_.storages.writable(module().operand(op_, i), true));
  const Tensor from = operand(i), copy = graph_.clone(from, name() + "/copy");
  program().add(poplar::program::Copy(from, copy));
  return keep(i, parts_.storages.fresh_slot(copy));
}
Tensor OpLowering::take_undefined(std::size_t i) {
  if (!lies_here(i)) return keep(i, parts_.storages.fresh_slot(add_linear(graph_, operand_type(i), name())));
  return keep(i, parts_.storages.writable(module().operand(op_, i), false));
}

void OpLowering::result(std::size_t i, Tensor t) {
  const auto shape = extents(result_type(i).shape);
  if (t.shape() != shape) t = t.reshape(shape);
  // What lies where operands lie is a view of them, or may be overwritten too early.
  for (ValueId v : module().operands(op_)) PANDO_CHECK(!parts_.storages.has_slot(v) || !parts_.storages.slot(v).tensor.intersectsWith(t));
  parts_.storages.define(module().result(op_, i), parts_.storages.fresh_slot(std::move(t)));
}

void OpLowering::result_view(std::size_t i, Tensor t) {
  Slot view{std::move(t), {}};
  for (std::size_t k = 0; k < operands(); ++k) {
    const auto& storages = slot(k).storages;
    view.storages.insert(view.storages.end(), storages.begin(), storages.end());
  }
  std::sort(view.storages.begin(), view.storages.end());
  view.storages.erase(std::unique(view.storages.begin(), view.storages.end()), view.storages.end());
  parts_.storages.define(module().result(op_, i), std::move(view));
}

void OpLowering::assign_all(std::span<const Tensor> dst, std::span<const Tensor> src) { parts_.storages.assign_all(dst, src); }

void OpLowering::result_taken(std::size_t i, std::size_t operand) {
  PANDO_CHECK(taken_[operand].has_value());
  parts_.storages.define(module().result(op_, i), *taken_[operand]);
}

std::optional<std::size_t> OpLowering::scalar_operand(std::string_view name) const { return lower::scalar_operand(module(), op_, name); }

Tensor OpLowering::scalar(std::string_view name, double otherwise) {
  if (const auto i = scalar_operand(name)) return operand(*i).flatten();
  const ir::DType dtype = operand_type(0).dtype;
  const Tensor t = add_constant(graph_, ir::HostTensor::filled(dtype, {1}, attributes().number(name, otherwise)), std::string(name));
  graph_.setTileMapping(t, 0);
  return t;
}

Tensor with_whole_rows(OpLowering& o, const Tensor& t) {
  if (o.graph().getTarget().getNumTiles() == 1 || !lies_turned(t)) return t;
  o.need(Library::popops);
  return in_rows(o.graph(), t, o.program(), o.name());
}

}  // namespace pando::lower
