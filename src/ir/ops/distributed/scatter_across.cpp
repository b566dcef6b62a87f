#include "ir/rows/define.h"
#include "ir/shared/tuples.h"

namespace pando::ir {

extern const OpRow op_scatter_across;
constexpr OpRow op_scatter_across = checked({
    .name = "scatter_across",
    .doc = "A tensor in equal parts along a dimension, one on each of `devices`.",
    .operands = {{{"t"}}},
    .attributes = {{{"dim", AttributeKind::integer}, {"devices", AttributeKind::ints}}},
    .infer = [](Inference& in) {
      const Ints devices = devices_of(in);
      const auto n = static_cast<std::int64_t>(devices.size());
      const auto dim = static_cast<std::size_t>(dimension_of(in, in.operand(0), "dim"));
      if (in.shape(0)[dim] % n != 0)
        in.reject("does-not-divide", "dimension {} has {} elements; they do not divide over {} devices", dim, in.shape(0)[dim], n);
      std::vector<Type> parts;
      for (std::int64_t d : devices) {
        parts.push_back(on_device(in.operand(0), d));
        parts.back().shape[dim] /= n;
      }
      tuple_result(in, std::move(parts));
    },
    .reference = [](Evaluation& e) {
      const auto n = static_cast<std::int64_t>(e.attributes().ints("devices").size());
      std::vector<HostTensor> parts;
      for (std::int64_t i = 0; i < n; ++i) parts.push_back(part_along(e.operand(0), e.attributes().integer("dim"), i, n));
      e.result(tuple_of(std::move(parts)));
    },
    .expand = [](Expansion& e) {
      const Ints devices = e.attributes().ints("devices");
      const auto n = static_cast<std::int64_t>(devices.size());
      const std::int64_t dim = e.attributes().integer("dim");
      std::vector<ValueId> parts;
      for (std::int64_t i = 0; i < n; ++i)
        parts.push_back(moved(e, part_along(e, e.operand(0), dim, i, n), devices[static_cast<std::size_t>(i)]));
      give_tuple(e, parts);
    },
    .in_program_only = true,
    .moves = true,
    .whole = "devices meet in it: the program says where its operands lie",
    .traffic = Traffic::scatter,
});

}  // namespace pando::ir
