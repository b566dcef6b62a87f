// How new variables are mapped: as the first reader that asks for a layout wants them, seen through views and calls; else linearly.
#pragma once

#include "lower/analysis.h"
#include "lower/decisions.h"
#include "lower/parts/storages.h"
#include "lower/row.h"
#include "lower/target/libraries.h"
#include "lower/target/places.h"

#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace pando::lower {

// A layout that a reader asks for.
struct LayoutPreference {
  // Of the value's shape and type; invalid: nobody asks.
  poplar::Tensor tensor;
  // Whether the reader is a function, which has its input there.
  bool of_function = false;
  // What the reader says of it.
  Row::Parts parts = Row::Parts::move;
  // For the text of decisions.
  std::string why;
};

class Layouts {
 public:
  Layouts(const ir::Module& module, Places& places, Libraries& libraries, Analysis& analysis, Storages& storages, Decisions& decisions)
      : module_(module), places_(places), libraries_(libraries), analysis_(analysis), storages_(storages), decisions_(decisions) {}
  // Where a function has its inputs.
  using FunctionInputs = std::function<const std::vector<poplar::Tensor>&(ir::GraphId)>;
  void find_function_inputs_by(FunctionInputs inputs) { function_inputs_ = std::move(inputs); }

  LayoutPreference preference(ir::ValueId v);
  // A variable of the value's type, mapped as its readers like it; `as_partner`: gets whether it lies as one that it is combined with.
  poplar::Tensor new_tensor(ir::ValueId v, bool* as_partner = nullptr);
  void make_constant(ir::ValueId v);
  // A value of the same shape that this one is combined with, of those that are accepted. Invalid without one.
  using Accept = std::function<bool(ir::ValueId)>;
  ir::ValueId partner(ir::ValueId v, const Accept& accept) const;
  // Of a product's result: the first tile of a weight whose gradient it is, or of what is updated with it. Nothing if there is none.
  std::optional<unsigned> tile_to_begin_at(ir::ValueId v);

 private:
  // Values from which one search has found nothing, and from how deep it looked on: values that many ways lead to are looked at once or
  // twice.
  class Seen {
   public:
    bool contains(ir::ValueId v, int depth) const {
      const auto it = depth_.find(v);
      return it != depth_.end() && it->second <= depth;
    }
    void add(ir::ValueId v, int depth) { depth_[v] = depth; }

   private:
    std::unordered_map<ir::ValueId, int> depth_;
  };
  LayoutPreference preference_of(ir::ValueId v, int depth, Seen& seen);
  LayoutPreference preference_through(ir::ValueId v, ir::OpId op, std::uint32_t index, int depth, Seen& seen);
  LayoutPreference preference_of_graph(ir::ValueId v, ir::OpId op, std::uint32_t index, int depth, Seen& seen);
  // What an operand of an op that carries a graph is there: an input of a graph that is lowered in its place.
  ir::ValueId inner_input(ir::OpId op, std::uint32_t index) const;
  ir::ValueId partner_of(ir::ValueId v, const Accept& accept, int depth, Seen& seen) const;
  poplar::Tensor partner_layout(ir::ValueId v);
  // What a view is a view of.
  ir::ValueId viewed(ir::ValueId v) const;
  ir::ValueId weight_of_gradient(ir::ValueId v) const;
  std::string name_of(ir::ValueId v) const { return module_.name_of(v); }

  const ir::Module& module_;
  Places& places_;
  Libraries& libraries_;
  Analysis& analysis_;
  Storages& storages_;
  Decisions& decisions_;
  FunctionInputs function_inputs_;
  ir::ValueId preferred_;  // whose preference is asked for: tensors have its name, also where a view of it says how it likes to lie
};

}  // namespace pando::lower
