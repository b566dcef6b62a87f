// What ops want of the op libraries: their codelets, what is planned once, what the session says.
#pragma once

#include "lower/terms/settings.h"

#include <poplar/Graph.hpp>
#include <poplin/MatMul.hpp>

#include <cstdint>
#include <set>

namespace pando::lower {

// Libraries of codelets: added when the first op needs them.
enum class Library : std::uint8_t { popops, poplin, popnn, poprand, own };

class Libraries {
 public:
  Libraries(poplar::Graph& graph, const Settings& settings) : graph_(graph), settings_(settings) {}
  void need(Library library);
  poplin::matmul::PlanningCache& planning() { return planning_; }
  const Settings& settings() const { return settings_; }
  // Of a tile's memory, for the operands of a step of a product: less where variables leave little. 0: as the libraries choose.
  double product_share() const { return product_share_; }
  void limit_products(double share) { product_share_ = share; }

 private:
  poplar::Graph& graph_;
  const Settings& settings_;
  poplin::matmul::PlanningCache planning_;
  std::set<Library> libraries_;
  double product_share_ = 0;
};

}  // namespace pando::lower
