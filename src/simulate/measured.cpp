#include "simulate/measured.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace pando::simulate {

std::string_view name_of(ProductType t) {
  constexpr std::string_view names[] = {"bf16", "fp16", "tf32", "fp32", "fp8"};
  return names[static_cast<std::size_t>(t)];
}

std::string_view name_of(Basis b) {
  constexpr std::string_view names[] = {"measured", "interpolated", "assumed"};
  return names[static_cast<std::size_t>(b)];
}

namespace {

auto key_of(const MeasuredShapes::Product& p) { return std::tuple(p.type, p.layout, p.m, p.k, p.n); }
auto key_of(const MeasuredCollective& c) { return std::tuple(c.collective, c.devices, c.nodes, c.beside, c.bytes); }
auto key_of(const MeasuredBytewise& b) { return std::tuple(std::string_view(b.op), b.backward, std::string_view(b.software), b.bytes); }

template <class Row>
void sort_by_key(std::vector<Row>& rows) {
  std::ranges::stable_sort(rows, [](const Row& a, const Row& b) { return key_of(a) < key_of(b); });
}

// The mean of the nearest, by how far their sizes are from those that are asked about.
constexpr std::size_t kNearest = 4;
const double kFar = std::log(2.0);

struct Near {
  double distance = 0, efficiency = 0;
};

// `rows` ascend by bytes.
template <class Rows>
double interpolated(const Rows& rows, double bytes) {
  const auto above = std::ranges::find_if(rows.begin(), rows.end(), [&](const auto& r) { return r.bytes >= bytes; });
  if (above == rows.begin()) return above->seconds;
  const auto below = std::prev(above);
  if (above == rows.end()) return below->seconds * bytes / below->bytes;
  const double part = std::log(bytes / below->bytes) / std::log(above->bytes / below->bytes);
  return below->seconds * std::pow(above->seconds / below->seconds, part);
}

}  // namespace

double without_launch(double seconds, double launch) { return std::max(0.2 * seconds, seconds - launch); }

void sort_rows(MeasuredShapes& shapes) { sort_by_key(shapes.products); }

void sort_rows(Measured& measured) {
  sort_rows(measured.shapes);
  sort_by_key(measured.collectives);
  sort_by_key(measured.bytewise);
}

std::optional<MeasuredShare> product_share(const MeasuredShapes& shapes, double m, double k, double n, char layout, ProductType type) {
  const auto is_before = [](const MeasuredShapes::Product& p, const std::pair<ProductType, char>& key) {
    return std::pair(p.type, p.layout) < key;
  };
  const auto is_after = [](const std::pair<ProductType, char>& key, const MeasuredShapes::Product& p) {
    return key < std::pair(p.type, p.layout);
  };
  const std::pair key(type, layout);
  const auto begin = std::lower_bound(shapes.products.begin(), shapes.products.end(), key, is_before),
             end = std::upper_bound(begin, shapes.products.end(), key, is_after);
  std::array<Near, kNearest> nearest{};
  std::size_t found = 0;
  // Most rows are far off; that takes no logarithms.
  const auto is_far = [](std::int64_t row, double size) {
    const auto r = static_cast<double>(row);
    return r > 2.001 * size || size > 2.001 * r;
  };
  for (auto p = begin; p != end; ++p) {
    if (is_far(p->m, m) || is_far(p->k, k) || is_far(p->n, n)) continue;
    const double dm = std::log(static_cast<double>(p->m) / m), dk = std::log(static_cast<double>(p->k) / k),
                 dn = std::log(static_cast<double>(p->n) / n);
    if (dm == 0 && dk == 0 && dn == 0) return MeasuredShare{p->efficiency, Basis::measured};
    if (std::max({std::abs(dm), std::abs(dk), std::abs(dn)}) > kFar) continue;
    const Near now{dm * dm + dk * dk + dn * dn, p->efficiency};
    std::size_t place = found < kNearest ? found++ : kNearest;
    if (place == kNearest && now.distance >= nearest.back().distance) continue;
    if (place == kNearest) place = kNearest - 1;
    for (; place > 0 && nearest[place - 1].distance > now.distance; --place) nearest[place] = nearest[place - 1];
    nearest[place] = now;
  }
  if (found == 0) return std::nullopt;
  double sum = 0, weights = 0;
  for (std::size_t i = 0; i < found; ++i) {
    const double weight = 1 / nearest[i].distance;
    sum += weight * nearest[i].efficiency;
    weights += weight;
  }
  return MeasuredShare{sum / weights, Basis::interpolated};
}

std::optional<double> collective_seconds(const Measured& measured, Collective what, double bytes, std::int64_t devices, std::int64_t nodes,
                                         std::int64_t beside) {
  const auto rows = std::ranges::equal_range(measured.collectives, std::tuple(what, devices, nodes), {},
                                             [](const MeasuredCollective& c) { return std::tuple(c.collective, c.devices, c.nodes); });
  if (rows.empty()) return std::nullopt;
  // Of the numbers of groups that were measured at once, the smallest that is large enough; or else the largest.
  const auto enough = std::ranges::find_if(rows, [&](const MeasuredCollective& c) { return c.beside >= beside; });
  const std::int64_t as_many = enough != rows.end() ? enough->beside : std::prev(rows.end())->beside;
  return interpolated(std::ranges::equal_range(rows, as_many, {}, &MeasuredCollective::beside), bytes);
}

std::optional<double> bytewise_seconds(const Measured& measured, std::string_view op, bool backward, double bytes) {
  // Small compiled ops took as long as the host did; within a step that is compiled it does not count.
  std::optional<double> least;
  for (const std::string_view software : {"compiled", "eager"}) {
    const auto rows = std::ranges::equal_range(measured.bytewise, std::tuple(op, backward, software), {}, [](const MeasuredBytewise& b) {
      return std::tuple(std::string_view(b.op), b.backward, std::string_view(b.software));
    });
    if (rows.empty()) continue;
    const double seconds = interpolated(rows, bytes);
    least = std::min(least.value_or(seconds), seconds);
  }
  return least;
}

}  // namespace pando::simulate
