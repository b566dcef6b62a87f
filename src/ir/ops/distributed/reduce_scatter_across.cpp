#include "ir/rows/define.h"
#include "ir/shared/tuples.h"

namespace pando::ir {

extern const OpRow op_reduce_scatter_across;
constexpr OpRow op_reduce_scatter_across = checked({
    .name = "reduce_scatter_across",
    .doc = "The reduction of the tensors of a tuple in equal parts along a dimension, one on each of their devices.",
    .operands = {{{"ts"}}},
    .attributes = {{{"op", AttributeKind::text}, {"dim", AttributeKind::integer}}},
    .infer = [](Inference& in) {
      check_reduction(in);
      std::vector<Type> parts = equal_elements(in);
      const auto n = static_cast<std::int64_t>(parts.size());
      const auto dim = static_cast<std::size_t>(dimension_of(in, parts[0], "dim"));
      if (parts[0].shape[dim] % n != 0)
        in.reject("does-not-divide", "dimension {} has {} elements; they do not divide over {} devices", dim, parts[0].shape[dim], n);
      for (Type& t : parts) t.shape[dim] /= n;
      tuple_result(in, std::move(parts));
    },
    .reference = [](Evaluation& e) {
      const std::vector<HostTensor> all = tensors_of(e.operand_value(0));
      const HostTensor sum = reduced(all, e.attributes().text("op"));
      const auto n = static_cast<std::int64_t>(all.size());
      std::vector<HostTensor> parts;
      for (std::int64_t i = 0; i < n; ++i) parts.push_back(part_along(sum, e.attributes().integer("dim"), i, n));
      e.result(tuple_of(std::move(parts)));
    },
    .expand = [](Expansion& e) {
      const std::vector<ValueId> all = elements_of(e);
      const auto n = static_cast<std::int64_t>(all.size());
      std::vector<ValueId> sums;
      for (ValueId to : all) {
        std::vector<ValueId> parts;
        for (ValueId v : all)
          parts.push_back(
              moved(e, part_along(e, v, e.attributes().integer("dim"), static_cast<std::int64_t>(sums.size()), n), device_of(e, to)));
        sums.push_back(reduced(e, parts));
      }
      give_tuple(e, sums);
    },
    .in_program_only = true,
    .moves = true,
    .whole = "devices meet in it: the program says where its operands lie",
    .traffic = Traffic::reduce_scatter,
});

}  // namespace pando::ir
