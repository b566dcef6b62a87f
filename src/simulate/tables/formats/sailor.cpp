// Sailor's network coefficients: of each kind of device the bandwidth by a message's size, inside a node and between nodes.
#include "simulate/tables/table_format.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>
#include <vector>

namespace pando::simulate {

namespace {

using Json = nlohmann::ordered_json;

bool is_sailor(const TableFile& file) {
  const Json j = object_of(file);
  return j.is_object() && j.contains("inter") && j["inter"].is_object() && j.contains("intra") && j["intra"].is_object();
}

// GB/s = c2 x^2 + c1 x + c0, x the logarithm (base 2) of the message's MB; never over the last number, in bytes a second.
bool is_curve(const Json& c) {
  return c.is_array() && c.size() == 2 && c[0].is_array() && c[0].size() == 3 && c[1].is_number() && c[1].get<double>() > 0 &&
         std::ranges::all_of(c[0], [](const Json& n) { return n.is_number(); });
}

void read_sailor(const TableFile& file, TableRows& rows) {
  const Json j = object_of(file);
  std::vector<std::string> devices;
  for (const auto& [name, curves] : j["inter"].items()) devices.push_back(name);
  if (devices.empty()) reject_table(file, "it has no devices");
  const std::string device = file.device.empty() && devices.size() == 1 ? devices[0] : file.device;
  if (std::ranges::find(devices, device) == devices.end())
    reject_table(file, fmt::format("{}; it has {}: --device chooses one",
                                   device.empty() ? "several devices are in it" : "no device '" + device + "'", fmt::join(devices, ", ")));
  const auto take = [&](const char* scope, std::size_t level) {
    if (!j[scope].contains(device)) return;
    // Of the fewest devices that were measured at once, and of the most: what those of a node share.
    const Json *fewest = nullptr, *most = nullptr;
    std::int64_t least = 0, devices_at_once = 0;
    for (const auto& [count, curve] : j[scope][device].items()) {
      std::int64_t n = 0;
      if (std::from_chars(count.data(), count.data() + count.size(), n).ec != std::errc() || !is_curve(curve))
        reject_table(file, fmt::format("{}, {}, {}: three coefficients and a greatest bandwidth are expected", scope, device, count));
      if (fewest == nullptr || n < least) least = n, fewest = &curve;
      if (n > devices_at_once) devices_at_once = n, most = &curve;
    }
    if (most == nullptr) return;
    // Inside a node all of them send to each other; between nodes one sends beside the others of its node.
    const bool between = std::string_view(scope) == "inter";
    const Json& curve = between ? *fewest : *most;
    const double best = curve[1].get<double>(), c2 = curve[0][0].get<double>(), c1 = curve[0][1].get<double>(),
                 c0 = curve[0][2].get<double>();
    std::vector<std::pair<double, double>> shares;
    for (int x = 0; x <= 12; ++x) {
      const double share = std::min(1.0, 1e9 * (c2 * x * x + c1 * x + c0) / best);
      if (share > 0) shares.emplace_back(std::ldexp(1e6, x), share);
      // Where the curve turns down again it is no longer one of sizes.
      if (share >= 1) break;
    }
    if (shares.empty()) reject_table(file, fmt::format("{}, {}: the curve has no bandwidth over 0", scope, device));
    NetworkLevel* const l = rows.set_level(level, best, std::move(shares));
    if (l != nullptr) l->shared_bytes_per_second = between && devices_at_once > least ? (*most)[1].get<double>() : 0;
  };
  take("intra", 0);
  take("inter", 1);
}

}  // namespace

TableFormat format_sailor() { return {"sailor", "its network coefficients", is_sailor, read_sailor}; }

}  // namespace pando::simulate
