// What was measured of a machine, row by row: what `pando calibrate --torch` writes beside a machine's numbers. A row of an op's exact
// sizes goes before the machine's curves.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace pando::simulate {

enum class Collective : std::uint8_t { send, broadcast, scatter, gather, reduce, all_reduce, all_gather, reduce_scatter, all_to_all };
std::string_view name_of(Collective c);

// Of a product's operands.
enum class ProductType : std::uint8_t { bf16, fp16, tf32, fp32, fp8 };
std::string_view name_of(ProductType t);

// Shares of the peak, by an op's sizes. The peak is that of the element type: 8-bit floats; half precision; for tf32 and fp32 the larger of
// half and single precision.
struct MeasuredShapes {
  // (m, k) times (k, n).
  struct Product {
    std::int64_t m = 0, k = 0, n = 0;
    char layout = 0;  // 'f' forward, 'i' gradient of the input, 'w' of the weights
    double efficiency = 0;
    ProductType type = ProductType::bf16;
    bool operator==(const Product&) const = default;
  };
  // Products of experts, with the sizes of the forward product.
  struct Grouped {
    std::int64_t groups = 0, m = 0, n = 0, k = 0;
    char layout = 0;
    double efficiency = 0;
    bool operator==(const Grouped&) const = default;
  };
  // Causal. A share counts all operations, also those that causality masks, so it may be over 1.
  struct Attention {
    std::int64_t seq = 0, heads = 0, head_size = 0;
    bool backward = false;
    double efficiency = 0;
    std::int64_t batch = 1, kv_heads = 0, value_size = 0;
    bool operator==(const Attention&) const = default;
  };
  std::vector<Product> products;
  std::vector<Grouped> grouped;
  std::vector<Attention> attentions;
  bool empty() const { return products.empty() && grouped.empty() && attentions.empty(); }
  bool operator==(const MeasuredShapes&) const = default;
};

// How far a number for sizes that were asked about rests on measurements.
enum class Basis : std::uint8_t { measured, interpolated, assumed };
std::string_view name_of(Basis b);

struct MeasuredShare {
  double efficiency = 0;
  Basis basis = Basis::measured;
};
// A product's share: that of its row; or the mean of the nearest rows of its type and layout, none of whose sizes is more than twice or
// less than half; nothing where there are none.
std::optional<MeasuredShare> product_share(const MeasuredShapes& shapes, double m, double k, double n, char layout, ProductType type);

// Norms, activations, sums, losses, updates, by the bytes that they have to move.
struct MeasuredBytewise {
  std::string op, software;
  bool backward = false;
  double bytes = 0, seconds = 0;
  bool operator==(const MeasuredBytewise&) const = default;
};

// Devices of a group, over so many nodes; groups that did the same from one node. Bytes as in transfer_time (cluster.h).
struct MeasuredCollective {
  Collective collective = Collective::send;
  double bytes = 0;
  std::int64_t devices = 0, nodes = 1, beside = 1;
  double seconds = 0;
  bool operator==(const MeasuredCollective&) const = default;
};

struct MeasuredCopy {
  std::string direction;
  double bytes = 0, seconds = 0;
  bool operator==(const MeasuredCopy&) const = default;
};

// The part of one layer that one of `tensor` devices has, without sums over devices: what the sum of its ops is compared with.
struct MeasuredLayer {
  std::int64_t hidden = 0, heads = 0, kv_heads = 0, head_size = 0, ffn = 0, tensor = 1, batch = 1, seq = 0;
  bool gated = false;
  std::string software;
  double forward_seconds = 0, backward_seconds = 0;
  bool operator==(const MeasuredLayer&) const = default;
};

struct Measured {
  // Name, versions, date, as text.
  std::vector<std::pair<std::string, std::string>> device;
  // The machine's launch, which rows of seconds contain.
  double launch = 0;
  // What the host takes to begin an op, where nothing hides it.
  double dispatch_seconds = 0;
  // The share of a product's speed that is left after seconds of work.
  double sustained = 1;
  MeasuredShapes shapes;
  std::vector<MeasuredBytewise> bytewise;
  std::vector<MeasuredCopy> copies;
  std::vector<MeasuredCollective> collectives;
  std::vector<MeasuredLayer> layers;
  // What was not measured, and why.
  std::vector<std::pair<std::string, std::string>> skipped;
  bool empty() const {
    return shapes.empty() && bytewise.empty() && copies.empty() && collectives.empty() && layers.empty() && device.empty();
  }
  bool operator==(const Measured&) const = default;
};

// What is left of a measured row's seconds; a fifth at least.
double without_launch(double seconds, double launch);

// Rows in the order in which they are looked up; readers and tables call it once.
void sort_rows(MeasuredShapes& shapes);
void sort_rows(Measured& measured);

// Of a collective on so many devices of so many nodes, linear between the logarithms of two rows' bytes, and in proportion to the bytes
// above the largest row. Nothing where no row has these devices and nodes.
std::optional<double> collective_seconds(const Measured& measured, Collective what, double bytes, std::int64_t devices, std::int64_t nodes,
                                         std::int64_t beside);
// Of an op by bytes in one direction, likewise; the least of eager and compiled rows.
std::optional<double> bytewise_seconds(const Measured& measured, std::string_view op, bool backward, double bytes);

}  // namespace pando::simulate
