// Choices that a tile's memory asks for: how much of it products may take, and where lies what functions only read.
#pragma once

#include "lower/parts/layouts.h"
#include "lower/parts/storages.h"
#include "lower/target/libraries.h"
#include "lower/target/places.h"
#include "lower/tile_loads.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>

namespace pando::lower {

class Memory {
 public:
  Memory(const ir::Module& module, Places& places, Libraries& libraries, Layouts& layouts, Storages& storages,
         std::optional<TileLoads>& loads)
      : module_(module), places_(places), libraries_(libraries), layouts_(layouts), storages_(storages), loads_(loads) {}
  // Limits products where variables take much. Rejects (poplar::graph_memory_allocation_error) what an IPU cannot hold, unless
  // `allow_out_of_memory`.
  void choose_product_share(bool allow_out_of_memory);
  // Parts of a variable leave tiles that have more than their share.
  void level_out(ir::ValueId v, Row::Parts parts);
  // Counts what lies on tiles for long from now on.
  void count_loads() { loads_.emplace(places_.top().getTarget(), static_cast<unsigned>(places_.io_tiles())); }
  // Of a function, if loads are counted.
  void add_function(std::span<const poplar::Tensor> inputs, const Frame& frame);
  // Spreads variables that are passed on to functions, if loads are counted.
  void balance(const std::set<ir::ValueId>& passed_on);

 private:
  void reject_variables(std::int32_t device, double bytes, double memory) const;

  const ir::Module& module_;
  Places& places_;
  Libraries& libraries_;
  Layouts& layouts_;
  Storages& storages_;
  std::optional<TileLoads>& loads_;
  // Of all variables, by device.
  std::map<std::int32_t, double> variable_bytes_;
};

}  // namespace pando::lower
