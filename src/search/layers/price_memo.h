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
  // As simulate::bytewise_seconds. `op` is a word of the program: it is known by where it lies, so equal words in two places are two ops.
  std::optional<double> bytewise(const simulate::Measured& measured, std::string_view op, bool backward, double bytes) {
    const auto [at, is_new] = bytewise_.try_emplace({op.data(), backward, bytes});
    if (is_new) at->second = simulate::bytewise_seconds(measured, op, backward, bytes);
    return at->second;
  }
  // What find() gives for attention with this size of heads, sequence and rows of heads at once.
  template <class Find>
  const std::optional<simulate::MeasuredShare>& attention(double head, double seq, double rows, bool backward, Find&& find) {
    const auto [at, is_new] = attention_.try_emplace({head, seq, rows, backward});
    if (is_new) at->second = find();
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
    static std::uint64_t mixed(std::uint64_t h, const char* part) { return mixed(h, std::bit_cast<std::uintptr_t>(part)); }
    template <class Part>
    static std::uint64_t mixed(std::uint64_t h, Part part) {
      h = (h ^ static_cast<std::uint64_t>(part)) * 0x9e3779b97f4a7c15ULL;
      return h ^ h >> 29;
    }
  };
  std::unordered_map<std::tuple<double, double, double, char, simulate::ProductType>, std::optional<simulate::MeasuredShare>, Hash>
      products_;
  std::unordered_map<std::tuple<const char*, bool, double>, std::optional<double>, Hash> bytewise_;
  std::unordered_map<std::tuple<double, double, double, bool>, std::optional<simulate::MeasuredShare>, Hash> attention_;
};

}  // namespace pando::search
