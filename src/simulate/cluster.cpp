#include "simulate/cluster.h"

#include "base/error.h"
#include "base/text/similar_names.h"
#include "simulate/shipped_rows.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

namespace pando::simulate {

double Efficiency::at(double size) const {
  if (share > 0) return share * std::max(size, from) / (std::max(size, from) + half);
  if (size <= points.front().first) return points.front().second;
  for (std::size_t i = 1; i < points.size(); ++i) {
    const auto& [high, at_high] = points[i];
    if (size > high) continue;
    const auto& [low, at_low] = points[i - 1];
    return at_low + (at_high - at_low) * std::log(size / low) / std::log(high / low);
  }
  return points.back().second;
}

double Efficiency::most() const {
  if (share > 0) return share;
  double most = 0;
  for (const auto& [size, at_size] : points) most = std::max(most, at_size);
  return most;
}

double Efficiency::least_quotient(double size) const {
  double least = size / at(size);
  if (share > 0) return least;
  for (std::size_t i = 1; i < points.size(); ++i) {
    const auto& [low, at_low] = points[i - 1];
    const auto& [high, at_high] = points[i];
    if (high <= size) continue;
    least = std::min(least, high / at_high);
    // Between two points the quotient has a minimum where the efficiency is its own slope over the logarithm.
    const double slope = (at_high - at_low) / std::log(high / low);
    const double flat = slope > 0 ? low * std::exp((slope - at_low) / slope) : 0;
    if (flat > std::max(low, size) && flat < high) least = std::min(least, flat / slope);
  }
  return least;
}

std::string_view name_of(Collective c) {
  constexpr std::string_view names[] = {"send",       "broadcast",  "scatter",        "gather",    "reduce",
                                        "all_reduce", "all_gather", "reduce_scatter", "all_to_all"};
  return names[static_cast<std::size_t>(c)];
}

std::string_view name_of(Algorithm a) {
  constexpr std::string_view names[] = {"ring", "tree", "hierarchical", "in-network", "direct"};
  return names[static_cast<std::size_t>(a)];
}

std::size_t Cluster::level_of(std::int64_t first, std::int64_t last) const {
  for (std::size_t i = 0; i < levels.size(); ++i) {
    if (first / levels[i].devices == last / levels[i].devices) return i;
  }
  return levels.empty() ? 0 : levels.size() - 1;
}

#define X(name) Cluster cluster_##name();
#include "cluster_manifest.inc"
#undef X

const std::vector<Cluster>& clusters() {
  static const std::vector<Cluster> all = {
#define X(name) cluster_##name(),
#include "cluster_manifest.inc"
#undef X
  };
  return all;
}

namespace {

// Rows are read once, and only of machines that are asked for.
const Cluster& with_rows(const Cluster& cluster) {
  static const std::map<std::string, Cluster, std::less<>> all = [] {
    std::map<std::string, Cluster, std::less<>> with;
    for (Cluster c : clusters()) {
      const Measured* rows = shipped_rows(c.name);
      if (rows == nullptr) continue;
      c.measured = *rows;
      with.emplace(c.name, std::move(c));
    }
    return with;
  }();
  return all.find(cluster.name)->second;
}

}  // namespace

const Cluster& cluster_named(std::string_view name) {
  std::vector<std::string> known, near;
  for (const Cluster& c : clusters()) {
    if (c.name == name) return shipped_rows(name) != nullptr ? with_rows(c) : c;
    known.push_back(c.name);
    // A family's name without its member: a100, of a100-40 and a100-80.
    if (name.size() > 1 && c.name.starts_with(name)) near.push_back(c.name);
  }
  if (near.empty()) near = similar_names(name, known);
  const std::string nearest =
      near.empty() ? "" : fmt::format(" the nearest {} {};", near.size() == 1 ? "is" : "are", fmt::join(near, ", "));
  fail(ErrorKind::poplar_error, "unknown-cluster",
       "no machine '{}';{} there are: {}, ipu2 (or ipu2:64, of 64 tiles), and files that end in .json", name, nearest,
       fmt::join(known, ", "));
}

Group group_of(const Cluster& c, std::int64_t first, std::int64_t count, std::int64_t stride) {
  Group g;
  const std::int64_t last = first + (count - 1) * stride;
  g.outer_level = c.level_of(first, last);
  g.inner_level = g.outer_level;
  g.inner = count;
  if (g.outer_level == 0) return g;
  // The widest level below at which some of them are together.
  for (std::size_t i = g.outer_level; i-- > 0;) {
    const std::int64_t unit = c.levels[i].devices;
    const std::int64_t here = stride >= unit ? 1 : std::min(count, (unit - first % unit + stride - 1) / stride);
    if (here > 1 && count % here == 0) {
      g.inner = here;
      g.outer = count / here;
      g.inner_level = i;
      g.beside = std::min(stride, unit);
      return g;
    }
  }
  g.beside = std::min<std::int64_t>(stride, c.levels[g.outer_level - 1].devices);
  return g;
}

namespace {

double bandwidth(const NetworkLevel& l, double bytes, std::int64_t beside) {
  double b = l.bytes_per_second;
  if (l.shared_bytes_per_second > 0) b = std::min(b, l.shared_bytes_per_second / static_cast<double>(std::max<std::int64_t>(1, beside)));
  return b * l.efficiency.at(bytes);
}

// What one device sends, and in how many messages one after the other.
struct Volume {
  double bytes = 0, messages = 0;
};

Volume ring_volume(Collective what, double bytes, double n) {
  const double part = bytes * (n - 1) / n;
  switch (what) {
    case Collective::all_reduce: return {2 * part, 2 * (n - 1)};
    case Collective::all_gather:
    case Collective::reduce_scatter: return {part, n - 1};
    case Collective::all_to_all: return {part, n - 1};
    case Collective::scatter:
    case Collective::gather: return {part, n - 1};
    case Collective::broadcast:
    case Collective::reduce: return {bytes, n - 1};
    case Collective::send: return {bytes, 1};
  }
  return {};
}

Volume tree_volume(Collective what, double bytes, double n) {
  const double depth = std::ceil(std::log2(n));
  if (what == Collective::all_reduce) return {2 * bytes, 2 * depth};
  return {bytes, depth};
}

bool has_tree(Collective what) { return what == Collective::all_reduce || what == Collective::broadcast || what == Collective::reduce; }

double flat_time(const NetworkLevel& l, Volume v, std::int64_t beside) {
  return v.bytes / bandwidth(l, v.bytes, beside) + v.messages * l.latency;
}

TransferTime flat(const Cluster& c, Collective what, double bytes, double n, std::size_t level, std::int64_t beside) {
  const NetworkLevel& l = c.levels[level];
  TransferTime best{flat_time(l, ring_volume(what, bytes, n), beside), what == Collective::send ? Algorithm::direct : Algorithm::ring,
                    level};
  const auto consider = [&](Algorithm a, Volume v) {
    const double t = flat_time(l, v, beside);
    if (t < best.seconds) best = {t, a, level};
  };
  if (has_tree(what) && n > 2) consider(Algorithm::tree, tree_volume(what, bytes, n));
  if (l.reduces_in_network && (what == Collective::all_reduce || what == Collective::reduce || what == Collective::broadcast)) {
    consider(Algorithm::in_network, {bytes, 2});
  }
  return best;
}

}  // namespace

namespace {

// Messages of a collective that copies make, and the bytes of each.
TransferTime through_first(const NetworkLevel& l, std::size_t level, Collective what, double bytes, double n) {
  double messages = n - 1, each = bytes;
  switch (what) {
    case Collective::all_reduce:
    case Collective::reduce_scatter: messages = 2 * (n - 1); break;
    case Collective::all_gather:
    case Collective::all_to_all: messages = n * (n - 1), each = bytes / n; break;
    case Collective::scatter:
    case Collective::gather: each = bytes / n; break;
    default: break;
  }
  return {messages * (l.latency + each / l.bytes_per_second), Algorithm::direct, level};
}

}  // namespace

TransferTime transfer_time(const Cluster& c, Collective what, double bytes, const Group& g) {
  if (g.size() <= 1 || c.levels.empty()) return {};
  const auto n = static_cast<double>(g.size());
  if (!c.measured.collectives.empty()) {
    // Nodes are the units of the first level.
    const std::int64_t nodes = g.outer_level == 0 ? 1 : g.outer > 1 ? g.outer : g.inner;
    if (const auto seconds = collective_seconds(c.measured, what, bytes, g.size(), nodes, g.beside))
      return {*seconds, Algorithm::direct, g.outer_level};
  }
  if (c.levels[g.outer_level].through_first) return through_first(c.levels[g.outer_level], g.outer_level, what, bytes, n);
  // Where each unit has one of them, only what runs beside shares its link.
  TransferTime best = flat(c, what, bytes, n, g.outer_level, g.outer > 1 ? g.beside * g.inner : g.beside);
  if (g.outer <= 1 || g.inner <= 1 || what == Collective::send || what == Collective::all_to_all) return best;
  // Inside the units, across them, inside again: each device has its part of the tensor when it crosses.
  const auto in = static_cast<double>(g.inner), out = static_cast<double>(g.outer);
  TransferTime h{0, Algorithm::hierarchical, g.outer_level};
  const double part = bytes / in;
  const std::int64_t crossing = g.beside * g.inner;
  switch (what) {
    case Collective::all_reduce:
      h.seconds = flat(c, Collective::reduce_scatter, bytes, in, g.inner_level, 1).seconds +
                  flat(c, what, part, out, g.outer_level, crossing).seconds +
                  flat(c, Collective::all_gather, bytes, in, g.inner_level, 1).seconds;
      break;
    case Collective::all_gather:
    case Collective::reduce_scatter:
      h.seconds = flat(c, what, part, out, g.outer_level, crossing).seconds + flat(c, what, bytes, in, g.inner_level, 1).seconds;
      break;
    default:
      h.seconds =
          flat(c, what, what == Collective::scatter || what == Collective::gather ? bytes : part, out, g.outer_level, crossing).seconds +
          flat(c, what, bytes, in, g.inner_level, 1).seconds;
      break;
  }
  return h.seconds < best.seconds ? h : best;
}

}  // namespace pando::simulate
