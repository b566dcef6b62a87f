// Choices that a tile's memory asks for: how much of it products may take, and where lies what functions only read.
#include "lower/lowering.h"

#include "base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace pando::lower {

using ir::GraphId;
using ir::ValueId;
using poplar::Tensor;

namespace {

// Variables beyond these shares of all memory leave a product's step a half, a quarter of what the libraries would take.
constexpr double kMuch = 0.125, kMost = 0.5, kUsual = 0.6;
// Of what the values of a function take, so much counts as load: they are not all live at once.
constexpr double kLiveTogether = 0.5;

}  // namespace

bool Lowering::has_functions() const {
  for (std::size_t g = 0; g < module_.graph_count(); ++g)
    if (is_function(GraphId(static_cast<GraphId::rep>(g)))) return true;
  return false;
}

// The compiler would find it, too, when all exchanges are made.
void Lowering::refuse_variables(std::int32_t device, double bytes, double memory) const {
  std::vector<ValueId> own;
  for (ValueId v : module_.graph(module_.main_graph()).inputs) {
    if (module_.type_of(v).place.device.value == device) own.push_back(v);
  }
  const auto size = [&](ValueId v) {
    return ir::elements_of(module_.type_of(v).shape) * static_cast<std::int64_t>(ir::size_of(module_.type_of(v).dtype));
  };
  std::stable_sort(own.begin(), own.end(), [&](ValueId a, ValueId b) { return size(a) > size(b); });
  std::string largest;
  for (std::size_t i = 0; i < std::min<std::size_t>(own.size(), 3); ++i) {
    const ir::Type& type = module_.type_of(own[i]);
    largest += fmt::format("{}'{}' {} {}", i == 0 ? "" : ", ", name_of(own[i]), ir::to_string(type.shape), ir::name_of(type.dtype));
  }
  fail(ErrorKind::graph_memory_allocation_error, "variables-out-of-memory",
       "the variables of IPU {} take {:.1f} MiB, its tiles have {:.1f} MiB; the largest: {}", std::max(device, 0), bytes / 0x1p20,
       memory / 0x1p20, largest);
}

void Lowering::choose_product_share() {
  const poplar::Target& target = graph_.getTarget();
  std::map<std::int32_t, double> bytes;
  for (ValueId v : module_.graph(module_.main_graph()).inputs) {
    const ir::Type& type = module_.type_of(v);
    bytes[type.place.device.value] += static_cast<double>(ir::elements_of(type.shape)) * static_cast<double>(ir::size_of(type.dtype));
  }
  double most = 0;
  for (const auto& [device, n] : bytes) most = std::max(most, n);
  const double memory = static_cast<double>(target.getTilesPerIPU()) * static_cast<double>(target.getBytesPerTile());
  const double share = most / memory;
  if (target.getTargetType() != poplar::TargetType::CPU && !options_.allow_out_of_memory) {
    for (const auto& [device, n] : bytes) {
      if (n > memory) refuse_variables(device, n, memory);
    }
  }
  if (share > kMuch) product_share_ = share > kMost ? kUsual / 4 : kUsual / 2;
}

// What a function computes stays on its tiles while others run: its operands in full, the rest as far as it is live together.
void Lowering::count_loads(const Function& f) {
  for (const Tensor& t : f.inputs) loads_->add(graph_, t, 1 - kLiveTogether);
  for (StorageId s : f.storages)
    if (!storages_[s].values.empty()) loads_->add(graph_, slots_[storages_[s].values[0]].tensor, kLiveTogether);
}

// Variables that a function gets as copies need not lie where it reads them; an optimiser's state, mapped later, goes with its weight.
void Lowering::balance(const std::set<ValueId>& passed_on) {
  std::map<ValueId, unsigned> alike;
  const auto is_passed_on = [&](ValueId v) { return passed_on.contains(v); };
  for (ValueId v : module_.graph(module_.main_graph()).inputs) {
    if (passed_on.contains(v)) continue;
    if (has_slot(v)) {
      loads_->add(graph_, slots_[v].tensor);
    } else if (const ValueId with = partner(v, is_passed_on); with.valid()) {
      ++alike[with];
    }
  }
  for (ValueId v : passed_on) loads_->spread(graph_, slots_[v].tensor, 1 + alike[v]);
}

}  // namespace pando::lower
