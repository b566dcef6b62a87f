#include "ir/rows/define.h"

namespace pando::ir {

extern const OpRow op_io_tile_copy;
constexpr OpRow op_io_tile_copy = checked({
    .name = "io_tile_copy",
    .doc = "The same contents on the IO tiles (`tile_set` \"io\") or on the compute tiles (\"compute\").",
    .signature = "io_tile_copy(t: Tensor) -> Tensor",
    .operands = {{{"t"}}},
    .attributes = {{{"tile_set", AttributeKind::text}}},
    .infer = [](Inference& in) {
      const std::string& set = in.attributes().text("tile_set");
      if (set != "io" && set != "compute") in.reject("tile-set", "the tile set '{}'; io and compute are possible", set);
      Type t = in.operand(0);
      t.place.tiles = set == "io" ? TileSet::io : TileSet::compute;
      in.result(std::move(t));
    },
    .reference = [](Evaluation& e) { e.result(e.operand(0)); },
    .samples = [] {
      Sample s;
      s.operands = {{DType::float32, {2, 3}, -2, 2, {}}};
      s.attributes = {{"tile_set", std::string("io")}};
      return std::vector{s};
    },
    .moves = true,
    .popart_type = "IoTileCopy",
    .whole = "devices meet in it: the program says where its operands lie",
});

}  // namespace pando::ir
