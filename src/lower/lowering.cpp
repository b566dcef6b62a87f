#include "lower/lowering.h"

#include "base/check.h"
#include "ir/error.h"
#include "lower/terms/element_types.h"

#include <pando/placing.hpp>
#include <poplin/codelets.hpp>
#include <popnn/codelets.hpp>
#include <popops/codelets.hpp>
#include <poprand/codelets.hpp>
#include <poputil/TileMapping.hpp>

#include <algorithm>

namespace pando::lower {

using ir::GraphId;
using ir::OpId;
using ir::ValueId;
using poplar::Tensor;
using poplar::program::Sequence;

Lowering::Lowering(const ir::Module& module, poplar::Graph& graph, const Options& options)
    : module_(module),
      graph_(graph),
      options_(options),
      analysis_(module, options.settings.flag("fuse")),
      slots_(module.value_count()),
      scope_of_(module.value_count()),
      function_of_(module.value_count()),
      decisions_(options.decisions) {
  pando::rotate_placements(graph, options.settings.flag("rotate"));
  // What the libraries make may be looked at and left.
  pando::count_created(graph, false);
}

void Lowering::need(Library library) {
  if (!libraries_.insert(library).second) return;
  switch (library) {
    case Library::popops: popops::addCodelets(graph_); break;
    case Library::poplin:
      need(Library::popops);
      poplin::addCodelets(graph_);
      break;
    case Library::popnn:
      need(Library::poplin);
      popnn::addCodelets(graph_);
      break;
    case Library::poprand: poprand::addCodelets(graph_); break;
    case Library::own: break;
  }
}

poplar::Graph& Lowering::graph_at(const ir::Place& place) {
  const auto ipus = graph_.getTarget().getNumIPUs();
  const std::int32_t device = place.device.value >= 0 ? place.device.value : 0;
  if (ipus == 1 && io_tiles() == 0) return graph_;
  const bool io = io_tiles() > 0 && place.tiles == ir::TileSet::io;
  const auto key = std::make_pair(device, io ? 1 : 0);
  const auto known = virtual_graphs_.find(key);
  if (known != virtual_graphs_.end()) return known->second;
  const unsigned tiles = graph_.getTarget().getTilesPerIPU();
  const unsigned compute = tiles - static_cast<unsigned>(io_tiles());
  const unsigned first = static_cast<unsigned>(device) * tiles;
  poplar::Graph part = io ? graph_.createVirtualGraph(first + compute, first + tiles) : graph_.createVirtualGraph(first, first + compute);
  return virtual_graphs_.emplace(key, std::move(part)).first->second;
}

ir::Place Lowering::place_of(OpId op) const {
  for (ValueId v : module_.results(op)) {
    if (module_.type_of(v).place.device.known()) return module_.type_of(v).place;
  }
  for (ValueId v : module_.operands(op)) {
    if (module_.type_of(v).place.device.known()) return module_.type_of(v).place;
  }
  return {};
}

poplar::Graph& Lowering::graph_of(OpId op) { return graph_at(place_of(op)); }

std::string Lowering::name_of(ValueId v) const { return module_.name_of(v); }

ValueId Lowering::resolved(ValueId v) const { return module_.value(v).graph == module_.main_graph() ? analysis_.resolved(v, context_) : v; }

// Constants belong to the whole program; they are made when the first op wants them as a tensor.
void Lowering::make_constant(ValueId v) {
  const OpId producer = module_.value(v).producer;
  PANDO_CHECK(producer.valid() && module_.row(producer).constant);
  const ir::HostTensor& data = module_.blob(std::get<ir::BlobId>(*module_.attributes(producer).find("data")));
  poplar::Graph& graph = graph_of(producer);
  const Tensor t = add_constant(graph, data, name_of(v));
  const Tensor wish = data.elements() > 1 ? layout_wish(v) : Tensor();
  if (wish.valid()) {
    graph_.setTileMapping(t, graph_.getTileMapping(wish));
  } else {
    poputil::mapTensorLinearly(graph, t);
  }
  define(v, read_only_slot(t));
  // Not of the function or loop that came first.
  for (StorageId s : slots_[v].storages) storages_[s].function = storages_[s].scope = 0;
}

void Lowering::lower_ops(GraphId graph) {
  GraphPlan outer = std::move(plan_);
  std::vector<ValueId> current = std::move(current_);
  const std::size_t at = at_;
  current_.clear();
  plan_ = analysis_.plan(graph, context_);
  for (at_ = 0; at_ < plan_.ops.size(); ++at_) lower_op(plan_.ops[at_]);
  at_ = at;
  current_ = std::move(current);
  plan_ = std::move(outer);
}

SourceScope Lowering::source_scope(ir::LocationId location) const {
  if (!location.valid()) return SourceScope(graph_, "", 0);
  const ir::Location& at = module_.location(location);
  return SourceScope(graph_, at.file.c_str(), at.line);
}

void Lowering::lower_op(OpId op) {
  const ir::OpRow& kind = module_.row(op);
  if (kind.constant || plan_.fused_into.contains(op.value)) return;
  const Row* row = find_row(kind.name);
  PANDO_CHECK(row != nullptr);
  const SourceScope scope = source_scope(module_.op(op).location);
  if (is_elementwise(row)) {
    lower_elementwise(op);
  } else if (waits_for_epilogue(op)) {
    waiting_ = op;
  } else {
    lower_plainly(op);
  }
  end_op();
}

void Lowering::lower_plainly(OpId op) {
  begin_op(op);
  OpLowering lowering(*this, op);
  const Row& row = *find_row(module_.row(op).name);
  row.lower(lowering);
  for (ValueId v : module_.results(op)) {
    PANDO_CHECK(has_slot(v));
    for (StorageId s : slots_[v].storages) PANDO_CHECK(!row.makes_tensor || storages_[s].values.size() == 1);
  }
  if (decisions_) tell_op(op);
}

void Lowering::refuse_what_has_no_lowering() const {
  std::vector<std::string> missing;
  for (std::size_t g = 0; g < module_.graph_count(); ++g) {
    for (OpId o : module_.graph(GraphId(static_cast<GraphId::rep>(g))).ops) {
      const ir::OpRow& row = module_.row(o);
      if (row.constant || find_row(row.name) != nullptr) continue;
      std::string text = std::string(row.name) + " '" + module_.name_of(o) + "'";
      if (const std::string at = module_.location_text(o); !at.empty()) text += " at " + at;
      missing.push_back(std::move(text));
    }
  }
  if (missing.empty()) return;
  std::string list;
  for (const std::string& m : missing) list += (list.empty() ? "" : ", ") + m;
  ir::refuse(ir::ErrorClass::popart, "no-lowering", "tiles cannot compute these ops: {}", list);
}

// At the first op that has to do with one; a variable may have none.
void Lowering::refuse_types() const {
  const auto lacks = [&](ValueId v) { return !have_tiles(module_.type_of(v).dtype); };
  for (std::size_t g = 0; g < module_.graph_count(); ++g) {
    for (OpId o : module_.graph(GraphId(static_cast<GraphId::rep>(g))).ops) {
      const auto operands = module_.operands(o), results = module_.results(o);
      const auto result = std::find_if(results.begin(), results.end(), lacks);
      if (result == results.end() && std::none_of(operands.begin(), operands.end(), lacks)) continue;
      const ValueId v = result != results.end() ? *result : *std::find_if(operands.begin(), operands.end(), lacks);
      std::string types;
      for (ValueId operand : operands) types += (types.empty() ? "" : ", ") + module_.types().to_string(module_.type_of(operand));
      ir::throw_model_error(
          ir::ErrorClass::popart, "no-such-type-on-tiles",
          fmt::format(
              "{} '{}' ({}): tiles have no element type {}; float32 is the widest of floats, make the data of that type on the host",
              module_.row(o).name, module_.name_of(v), types, ir::name_of(module_.type_of(v).dtype)),
          module_.location_text(o));
    }
  }
  for (std::size_t s = 0; s < module_.state_count(); ++s) {
    const ir::State& state = module_.state(ir::StateId(static_cast<ir::StateId::rep>(s)));
    const ir::Type& type = module_.type(state.type);
    if (have_tiles(type.dtype)) continue;
    ir::refuse(ir::ErrorClass::popart, "no-such-type-on-tiles",
               "variable '{}' ({}): tiles have no element type {}; float32 is the widest of floats", state.name,
               module_.types().to_string(type), ir::name_of(type.dtype));
  }
}

// --- what rows see -----------------------------------------------------------------------------------------------------------------------

OpLowering::OpLowering(Lowering& lowering, OpId op)
    : lowering_(lowering), op_(op), graph_(lowering.graph_of(op)), taken_(lowering.module().operands(op).size()), copied_(taken_.size()) {}

const ir::Module& OpLowering::module() const { return lowering_.module(); }
poplar::program::Sequence& OpLowering::program() { return lowering_.program(); }
std::string OpLowering::name() const {
  const std::string& own = module().name_of(op_);
  return own.empty() ? std::string(module().row(op_).name) : own;
}
bool OpLowering::lies_here(std::size_t i) const { return module().row(op_).moves || &lowering_.graph_at(operand_type(i).place) == &graph_; }
const Slot& OpLowering::slot(std::size_t i) {
  if (copied_[i]) return *copied_[i];
  const ir::Type& type = operand_type(i);
  const Slot& there = lowering_.slot(module().operand(op_, i));
  if (lies_here(i)) return there;
  const Tensor here = lowering_.linear(graph_, type, name() + "/operand");
  if (here.numElements() > 0) program().add(poplar::program::Copy(there.tensor, here, false, name() + "/operand"));
  copied_[i] = lowering_.fresh_slot(here);
  return *copied_[i];
}
Tensor OpLowering::operand(std::size_t i) { return slot(i).tensor; }
Tensor OpLowering::fresh(std::size_t i) { return lowering_.new_tensor(module().result(op_, i)); }

// One value given twice is two storages when both are taken.
Tensor OpLowering::keep(std::size_t i, Slot slot) {
  for (const auto& other : taken_) {
    if (!other || !other->tensor.intersectsWith(slot.tensor)) continue;
    const Tensor copy = graph_.clone(slot.tensor, name() + "/copy");
    program().add(poplar::program::Copy(slot.tensor, copy));
    slot = lowering_.fresh_slot(copy);
  }
  taken_[i] = std::move(slot);
  return taken_[i]->tensor;
}
// Whether the op reads the value as another operand, too, which lies where it will have been overwritten.
bool OpLowering::is_read_too(std::size_t i) const {
  for (std::size_t k = 0; k < taken_.size(); ++k) {
    if (k != i && !taken_[k] && lowering_.resolved(module().operand(op_, k)) == lowering_.resolved(module().operand(op_, i))) return true;
  }
  return false;
}

// What lies at another place is taken as the copy of it here: the result lies where the op is.
Tensor OpLowering::take(std::size_t i) {
  if (!lies_here(i)) return keep(i, slot(i));
  if (!is_read_too(i)) return keep(i, lowering_.writable(module().operand(op_, i), true));
  const Tensor from = operand(i), copy = graph_.clone(from, name() + "/copy");
  program().add(poplar::program::Copy(from, copy));
  return keep(i, lowering_.fresh_slot(copy));
}
Tensor OpLowering::take_undefined(std::size_t i) {
  if (!lies_here(i)) return keep(i, lowering_.fresh_slot(lowering_.linear(graph_, operand_type(i), name())));
  return keep(i, lowering_.writable(module().operand(op_, i), false));
}

void OpLowering::result(std::size_t i, Tensor t) {
  const auto shape = extents(result_type(i).shape);
  if (t.shape() != shape) t = t.reshape(shape);
  // What lies where operands lie is a view of them, or may be overwritten too early.
  for (ValueId v : module().operands(op_)) PANDO_CHECK(!lowering_.has_slot(v) || !lowering_.slot(v).tensor.intersectsWith(t));
  lowering_.define(module().result(op_, i), lowering_.fresh_slot(std::move(t)));
}

void OpLowering::result_view(std::size_t i, Tensor t) {
  Slot view{std::move(t), {}};
  for (std::size_t k = 0; k < operands(); ++k) {
    const auto& storages = slot(k).storages;
    view.storages.insert(view.storages.end(), storages.begin(), storages.end());
  }
  std::sort(view.storages.begin(), view.storages.end());
  view.storages.erase(std::unique(view.storages.begin(), view.storages.end()), view.storages.end());
  lowering_.define(module().result(op_, i), std::move(view));
}

void OpLowering::result_taken(std::size_t i, std::size_t operand) {
  PANDO_CHECK(taken_[operand].has_value());
  lowering_.define(module().result(op_, i), *taken_[operand]);
}

std::optional<std::size_t> scalar_operand(const ir::Module& module, OpId op, std::string_view name) {
  const ir::AttributeValue* listed = module.attributes(op).find("scalars");
  if (listed == nullptr) return std::nullopt;
  const auto& names = std::get<ir::Strings>(*listed);
  const auto it = std::find(names.begin(), names.end(), name);
  if (it == names.end()) return std::nullopt;
  // Scalars are the last operands.
  return module.operands(op).size() - names.size() + static_cast<std::size_t>(it - names.begin());
}

std::optional<std::size_t> OpLowering::scalar_operand(std::string_view name) const { return lower::scalar_operand(module(), op_, name); }

Tensor OpLowering::scalar(std::string_view name, double otherwise) {
  if (const auto i = scalar_operand(name)) return operand(*i).flatten();
  const ir::DType dtype = operand_type(0).dtype;
  const Tensor t = add_constant(graph_, ir::HostTensor::filled(dtype, {1}, attributes().number(name, otherwise)), std::string(name));
  graph_.setTileMapping(t, 0);
  return t;
}

}  // namespace pando::lower
