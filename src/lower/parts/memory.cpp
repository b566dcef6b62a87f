#include "lower/parts/memory.h"

#include <pando/cpu_device.hpp>

#include "base/error.h"
#include "lower/least_live.h"

#include <fmt/format.h>
#include <pando/mapping.hpp>
#include <pando/placing.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace pando::lower {

using ir::GraphId;
using ir::ValueId;
using poplar::Tensor;

namespace {

// Variables beyond these shares of all memory leave a product's step a half, a quarter of what the libraries would take.
constexpr double kMuch = 0.2, kMost = 0.5, kUsual = 0.6;
// Of what a tile has beside its share of all variables, this part may be taken by some more of them.
constexpr double kSpare = 8;
// Bytes that stay together where parts may be split.
constexpr std::size_t kPart = std::size_t{32} << 10;
// Of what the values of a function take, so much counts as load: they are not all live at once.
constexpr double kLiveTogether = 0.5;

double bytes_of(const ir::Module& m, ValueId v) {
  const ir::Type& type = m.type_of(v);
  return type.is_tensor() ? static_cast<double>(ir::elements_of(type.shape)) * static_cast<double>(ir::size_of(type.dtype)) : 0;
}

// The first few.
std::string list_of(const ir::Module& m, const std::vector<ValueId>& values) {
  std::string list;
  for (std::size_t i = 0; i < std::min<std::size_t>(values.size(), 3); ++i) {
    const ir::Type& type = m.type_of(values[i]);
    list += fmt::format("{}'{}' {} {}", i == 0 ? "" : ", ", m.name_of(values[i]), ir::to_string(type.shape), ir::name_of(type.dtype));
  }
  return list;
}

// Values that no order of memory can hold at once: the compiler would find out only when all is planned and placed.
void reject_values(const ir::Module& m, const std::map<std::int32_t, double>& variables, double memory) {
  double all = 0;
  for (std::uint32_t v = 0; v < m.value_count(); ++v) all += bytes_of(m, ValueId(v));
  if (all <= memory) return;
  for (const auto& [device, live] : least_live(m)) {
    const auto own = variables.find(device);
    const double beside = own == variables.end() ? 0 : own->second, bytes = static_cast<double>(live.bytes);
    if (beside + bytes <= memory) continue;
    fail(ErrorKind::graph_memory_allocation_error, "values-out-of-memory",
         "IPU {} holds values of {:.1f} MiB at once at {} '{}', and variables of {:.1f} MiB; its tiles have {:.1f} MiB; the largest of {}: "
         "{}",
         device, bytes / 0x1p20, m.row(live.at).name, m.name_of(live.at), beside / 0x1p20, memory / 0x1p20, live.values.size(),
         list_of(m, live.values));
  }
}

}  // namespace

// The compiler would find it, too, when all exchanges are made.
void Memory::reject_variables(std::int32_t device, double bytes, double memory) const {
  std::vector<ValueId> own;
  for (ValueId v : module_.graph(module_.main_graph()).inputs) {
    if (std::max(0, module_.type_of(v).place.device.value) == device) own.push_back(v);
  }
  std::stable_sort(own.begin(), own.end(), [&](ValueId a, ValueId b) { return bytes_of(module_, a) > bytes_of(module_, b); });
  fail(ErrorKind::graph_memory_allocation_error, "variables-out-of-memory",
       "the variables of IPU {} take {:.1f} MiB, its tiles have {:.1f} MiB; the largest: {}", device, bytes / 0x1p20, memory / 0x1p20,
       list_of(module_, own));
}

void Memory::choose_product_share(bool allow_out_of_memory) {
  const poplar::Target& target = places_.top().getTarget();
  std::map<std::int32_t, double>& bytes = variable_bytes_;
  for (ValueId v : module_.graph(module_.main_graph()).inputs) {
    bytes[std::max(0, module_.type_of(v).place.device.value)] += bytes_of(module_, v);
  }
  double most = 0;
  for (const auto& [device, n] : bytes) most = std::max(most, n);
  const double memory = static_cast<double>(target.getTilesPerIPU()) * static_cast<double>(target.getBytesPerTile());
  const double share = most / memory;
  if (!pando::has_memory_for_all(target) && !allow_out_of_memory) {
    for (const auto& [device, n] : bytes) {
      if (n > memory) reject_variables(device, n, memory);
    }
    reject_values(module_, bytes, memory);
  }
  if (share > kMuch) libraries_.limit_products(share > kMost ? kUsual / 4 : kUsual / 2);
}

// Parts of a variable on tiles that have more than their share, and some, go to the emptiest tiles: where plans take few tiles, or where
// weights take most of the memory, no rotation is even enough.
void Memory::level_out(ValueId v, Row::Parts may) {
  poplar::Graph& graph = places_.graph_at(module_.type_of(v).place);
  const std::size_t tiles = graph.getTarget().getNumTiles();
  const Tensor t = storages_.own_slot(v).tensor;
  if (!libraries_.settings().flag("rotate") || tiles == 1 || t.numElements() == 0 || may == Row::Parts::stay) return;
  const double memory = static_cast<double>(graph.getTarget().getBytesPerTile());
  const double mean = variable_bytes_[std::max(0, module_.type_of(v).place.device.value)] / static_cast<double>(tiles);
  const double most = mean + std::clamp((memory - mean) / kSpare, 0.0, mean / 4 + memory / 32);
  const Tensor whole = in_memory_order(graph, t);
  const std::size_t width = graph.getTarget().getTypeSize(t.elementType());
  std::vector<std::uint64_t> loads = pando::resident_bytes(graph), with = loads;
  std::vector<TileInterval> parts;
  for (const TileInterval& i : tile_intervals(graph, whole)) {
    with[i.tile] += (i.end - i.begin) * width;
    const std::size_t part = may == Row::Parts::split ? kPart / width : i.end - i.begin;
    for (std::size_t begin = i.begin; begin < i.end; begin += part) parts.push_back({begin, std::min(i.end, begin + part), i.tile});
  }
  const auto is_too_much = [&](std::uint64_t bytes) { return static_cast<double>(bytes) > most; };
  if (std::none_of(with.begin(), with.end(), is_too_much)) return;
  std::vector<TileInterval*> homeless;
  for (TileInterval& part : parts) {
    const std::uint64_t bytes = (part.end - part.begin) * width;
    if (is_too_much(loads[part.tile] + bytes))
      homeless.push_back(&part);
    else
      loads[part.tile] += bytes;
  }
  std::set<std::pair<std::uint64_t, unsigned>> by_load;
  for (unsigned tile = 0; tile < tiles; ++tile) by_load.emplace(loads[tile], tile);
  for (TileInterval* part : homeless) {
    const auto [load, tile] = *by_load.begin();
    by_load.erase(by_load.begin());
    by_load.emplace(load + (part->end - part->begin) * width, tile);
    part->tile = tile;
  }
  set_tile_intervals(graph, whole, parts);
}

// What a function computes stays on its tiles while others run: its operands in full, the rest as far as it is live together.
void Memory::add_function(std::span<const Tensor> inputs, const Frame& frame) {
  if (!loads_) return;
  for (const Tensor& t : inputs) loads_->add(places_.top(), t, 1 - kLiveTogether);
  for (StorageId s : frame.storages)
    if (const auto& values = storages_.values_in(s); !values.empty())
      loads_->add(places_.top(), storages_.own_slot(values[0]).tensor, kLiveTogether);
}

// Variables that a function gets as copies need not lie where it reads them; an optimiser's state, mapped later, goes with its weight.
void Memory::balance(const std::set<ValueId>& passed_on) {
  if (!loads_) return;
  std::map<ValueId, unsigned> alike;
  const auto is_passed_on = [&](ValueId v) { return passed_on.contains(v); };
  for (ValueId v : module_.graph(module_.main_graph()).inputs) {
    if (passed_on.contains(v)) continue;
    if (storages_.has_slot(v)) {
      loads_->add(places_.top(), storages_.own_slot(v).tensor);
    } else if (const ValueId with = layouts_.partner(v, is_passed_on); with.valid()) {
      ++alike[with];
    }
  }
  for (ValueId v : passed_on) loads_->spread(places_.top(), storages_.own_slot(v).tensor, 1 + alike[v]);
}

}  // namespace pando::lower
