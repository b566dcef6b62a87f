// Prices of single ops that were measured: layers of many strategies have the same ones.
#pragma once

#include "simulate/measured.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>
#include <unordered_map>

namespace pando::search {

// For one machine and one set of shapes.
class PriceMemo {
 public:
  // As simulate::product_share.
  const std::optional<simulate::MeasuredShare>& product(const simulate::MeasuredShapes& shapes, double m, double k, double n, char layout,
                                                        simulate::ProductType type) {
    const auto [at, is_new] = products_.try_emplace({m, k, n, layout, type});
    if (is_new) at->second = simulate::product_share(shapes, m, k, n, layout, type);
    return at->second;
  }
  // As simulate::bytewise_seconds. `op` must outlive the memo.
  std::optional<double> bytewise(const simulate::Measured& measured, std::string_view op, bool backward, double bytes) {
    const auto [at, is_new] = bytewise_.try_emplace({op, backward, bytes});
    if (is_new) at->second = simulate::bytewise_seconds(measured, op, backward, bytes);
    return at->second;
  }

 private:
  struct Hash {
    template <class... Parts>
    std::size_t operator()(const std::tuple<Parts...>& key) const {
      std::uint64_t h = 0;
      std::apply([&](const auto&... part) { ((h = mixed(h, part)), ...); }, key);
      return h;
    }
    static std::uint64_t mixed(std::uint64_t h, double part) { return mixed(h, std::bit_cast<std::uint64_t>(part)); }
    // Of words of a program: those that differ lie elsewhere or are of other lengths, mostly.
    static std::uint64_t mixed(std::uint64_t h, std::string_view part) { return mixed(mixed(h, part.size()), std::uint64_t(part.back())); }
    template <class Part>
    static std::uint64_t mixed(std::uint64_t h, Part part) {
      h = (h ^ static_cast<std::uint64_t>(part)) * 0x9e3779b97f4a7c15ULL;
      return h ^ h >> 29;
    }
  };
  std::unordered_map<std::tuple<double, double, double, char, simulate::ProductType>, std::optional<simulate::MeasuredShare>, Hash>
      products_;
  std::unordered_map<std::tuple<std::string_view, bool, double>, std::optional<double>, Hash> bytewise_;
};

}  // namespace pando::search
