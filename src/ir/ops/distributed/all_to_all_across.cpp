#include "ir/rows/define.h"
#include "ir/shared/tuples.h"

namespace pando::ir {

extern const OpRow op_all_to_all_across;
constexpr OpRow op_all_to_all_across = checked({
    .name = "all_to_all_across",
    .doc = "Each device's tensor is cut along `split_dim`; part j of each goes to device j, which joins what it gets along `concat_dim`.",
    .operands = {{{"ts"}}},
    .attributes = {{{"split_dim", AttributeKind::integer}, {"concat_dim", AttributeKind::integer}}},
    .infer = [](Inference& in) {
      std::vector<Type> parts = equal_elements(in);
      const auto n = static_cast<std::int64_t>(parts.size());
      const auto split = static_cast<std::size_t>(dimension_of(in, parts[0], "split_dim")),
                 concat = static_cast<std::size_t>(dimension_of(in, parts[0], "concat_dim"));
      if (parts[0].shape[split] % n != 0)
        in.reject("does-not-divide", "dimension {} has {} elements; they do not divide over {} devices", split, parts[0].shape[split], n);
      for (Type& t : parts) {
        t.shape[split] /= n;
        t.shape[concat] *= n;
      }
      tuple_result(in, std::move(parts));
    },
    .reference = [](Evaluation& e) {
      const std::vector<HostTensor> all = tensors_of(e.operand_value(0));
      const auto n = static_cast<std::int64_t>(all.size());
      std::vector<HostTensor> out;
      for (std::int64_t to = 0; to < n; ++to) {
        std::vector<HostTensor> parts;
        for (const HostTensor& from : all) parts.push_back(part_along(from, e.attributes().integer("split_dim"), to, n));
        out.push_back(joined_along(parts, e.attributes().integer("concat_dim")));
      }
      e.result(tuple_of(std::move(out)));
    },
    .expand = [](Expansion& e) {
      const std::vector<ValueId> all = elements_of(e);
      const auto n = static_cast<std::int64_t>(all.size());
      std::vector<ValueId> out;
      for (ValueId to : all) {
        std::vector<ValueId> parts;
        for (ValueId v : all)
          parts.push_back(
              moved(e, part_along(e, v, e.attributes().integer("split_dim"), static_cast<std::int64_t>(out.size()), n), device_of(e, to)));
        out.push_back(joined_along(e, parts, e.attributes().integer("concat_dim")));
      }
      give_tuple(e, out);
    },
    .in_program_only = true,
    .moves = true,
    .whole = "devices meet in it: the program says where its operands lie",
    .traffic = Traffic::all_to_all,
});

}  // namespace pando::ir
