#include "ir/error.h"
#include "ir/shared/reduction_kind.h"

namespace pando::ir {

namespace {

void infer_gather(Inference& in) {
  const std::string& form = in.attributes().text("output_shape");
  const std::int64_t group = group_size_of(in);
  Shape shape = in.shape(0);
  if (form == "concat") {
    const std::int64_t axis = in.attributes().integer("axis", 0);
    // A scalar counts as one row.
    if (shape.empty()) shape = {1};
    if (axis < 0 || axis >= static_cast<std::int64_t>(shape.size()))
      in.reject("axis-range", "axis {} is out of range for rank {}", axis, in.operand(0).rank());
    shape[static_cast<std::size_t>(axis)] *= group;
  } else if (form == "new_axis") {
    shape.insert(shape.begin(), group);
  } else if (form == "meta_shape") {
    const Shape& whole = in.operand(0).meta_shape;
    if (whole.empty()) in.reject("not-a-shard", "the tensor is not a shard: it has no meta shape");
    if (elements_of(shape) * group < elements_of(whole)) {
      in.reject("too-few-shards", "{} shards of {} elements do not make a tensor of shape {}", group, elements_of(shape), to_string(whole));
    }
    shape = whole;
  } else {
    in.reject("gather-form", "the output shape '{}'; concat, new_axis and meta_shape are possible", form);
  }
  in.result(in.dtype(0), shape);
}

// Part by part: before the axis, the replicas, the rest.
HostTensor gathered(const GroupEvaluation& e, const std::vector<std::size_t>& members, std::int64_t outer) {
  HostTensor out = e.fresh();
  const std::size_t bytes = e.operand(members[0], 0).size_bytes() / static_cast<std::size_t>(std::max<std::int64_t>(1, outer));
  std::byte* to = out.writable();
  std::size_t room = out.size_bytes();
  for (std::int64_t o = 0; o < outer; ++o) {
    for (std::size_t r : members) {
      // The last shard of a meta shape ends in padding.
      const std::size_t part = std::min(bytes, room);
      std::copy_n(e.operand(r, 0).data() + static_cast<std::size_t>(o) * bytes, part, to);
      to += part;
      room -= part;
    }
  }
  return out;
}

void gather(GroupEvaluation& e) {
  for (const auto& members : e.groups()) {
    const Shape& shape = e.operand(members[0], 0).shape();
    std::int64_t outer = 1;
    if (e.attributes().text("output_shape") == "concat") {
      for (std::int64_t d = 0; d < e.attributes().integer("axis", 0); ++d) outer *= shape[static_cast<std::size_t>(d)];
    }
    const HostTensor all = gathered(e, members, outer);
    for (std::size_t r : members) e.result(r, all);
  }
}

}  // namespace

extern const OpRow op_replicated_all_gather;
constexpr OpRow op_replicated_all_gather = checked({
    .name = "replicated_all_gather",
    .doc = "The tensors of all replicas of a group, in the order of the replicas. `output_shape`: concat (one behind the other along "
           "`axis`), new_axis (g, shape ...) "
           "or meta_shape: the shards make the tensor of that shape of which they are shards.",
    .signature = "replicated_all_gather(t: Tensor, axis: int=0, group: Optional[ReplicaGrouping]=None, output_shape: Literal['new_axis', "
                 "'concat', 'meta_shape', "
                 "'auto']='auto') -> Tensor",
    .module = "collectives.replicated_all_gather",
    .operands = {{{"t"}}},
    .attributes = {{{"axis", AttributeKind::integer, false},
                    {"output_shape", AttributeKind::text},
                    {"stride", AttributeKind::integer, false},
                    {"group_size", AttributeKind::integer, false}}},
    .infer = infer_gather,
    .reference_group = gather,
    .differentiable = Differentiable::by_gradient,
    .gradient =
        [](Gradient& g) {
          const std::string& form = g.attributes().text("output_shape");
          Attributes a = g.attributes();
          const Shape& shape = g.operand_type(0).shape;
          Attributes slice;
          for (std::string_view name : {"stride", "group_size"}) {
            if (const AttributeValue* v = a.find(name)) slice.set(name, *v);
          }
          if (form == "meta_shape") {
            const ValueId shard = g.op("replica_sharded_slice", {g.grad()}, slice);
            if (g.type_of(shard).shape == shape) return g.give(0, shard);
            reject(ErrorClass::popart, "no-gradient",
                   "{} '{}' gathers shards of shape {}, longer than needed; that cannot be differentiated",
                   g.module().row(g.forward()).name, g.module().name_of(g.forward()), to_string(shape));
          }
          slice.set("axis", form == "concat" ? a.integer("axis") : std::int64_t{0});
          const ValueId mine = g.op("replicated_slice", {g.grad()}, slice);
          g.give(0, g.type_of(mine).shape == shape ? mine : g.op("reshape", {mine}, {{"shape", Ints(shape)}}));
        },
    .in_program_only = true,
    .effects = Effects::replicas,
    .popart_type = "ReplicatedAllGather",
    .whole = "replicas meet in it, and a program with replicas is not distributed further",
    .traffic = Traffic::all_gather,
});

}  // namespace pando::ir
