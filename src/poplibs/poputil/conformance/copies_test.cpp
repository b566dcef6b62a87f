// Tensors made like others, and what is copied into them.
#include "oplib.h"

#include <poputil/TileMapping.hpp>
#include <poputil/Util.hpp>

namespace oplib {
namespace {

using namespace poplar;
using program::Sequence;

const std::vector<TensorCloneMethod> kMethods = {TensorCloneMethod::PRESERVE_ORDER_AND_ALIASES, TensorCloneMethod::CREATE_NEW_ORDER,
                                                 TensorCloneMethod::PRESERVE_ORDER_UNLESS_ALIASES,
                                                 TensorCloneMethod::GATHER_AND_PRESERVE_TILE_ORDER_AND_ALIASES};

// Rows 1 and 0 of a matrix, row 1 again, its columns reversed: aliases, and an order that is not the variable's.
Tensor shuffled(const Tensor& t) { return concat({t.slice(1, 2), t.slice(0, 1), t.slice(1, 2).reverse(1)}); }

std::vector<double> shuffled_values(const Values& x) {
  const std::size_t n = x.shape[1];
  std::vector<double> out;
  for (std::size_t j = 0; j < n; ++j) out.push_back(x[n + j]);
  for (std::size_t j = 0; j < n; ++j) out.push_back(x[j]);
  for (std::size_t j = n; j-- > 0;) out.push_back(x[n + j]);
  return out;
}

TEST(Copies, DuplicateHoldsTheSameValues) {
  for (const Machine machine : kMachines)
    for (const Mapping mapping : kMappings)
      for (const TensorCloneMethod method : kMethods) {
        SCOPED_TRACE(name_of(machine) + ' ' + name_of(mapping) + ' ' + toString(method));
        const Operand x = operand("x", HALF, {2, 37}, uniform(-2, 2, 1), mapping);
        const auto out = run(machine, {x}, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
          const Tensor view = shuffled(in[0]);
          const Tensor copy = poputil::duplicate(g, view, prog, "copy", method);
          EXPECT_FALSE(copy.intersectsWith(in[0]));
          if (method != TensorCloneMethod::PRESERVE_ORDER_AND_ALIASES &&
              method != TensorCloneMethod::GATHER_AND_PRESERVE_TILE_ORDER_AND_ALIASES)
            EXPECT_FALSE(copy.containsAliases());
          return std::vector<Tensor>{copy};
        });
        expect_close(out[0], shuffled_values(x));
      }
}

TEST(Copies, OnAnotherIpu) {
  for (const Mapping mapping : kMappings)
    for (const TensorCloneMethod method : kMethods)
      for (const unsigned ipu : {0u, 1u}) {
        const Operand x = operand("x", INT, {2, 100}, integers(-1000, 1000, 7), mapping);
        const auto out = run(Machine::ipu2, {x}, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
          const Tensor view = shuffled(in[0]);
          Tensor from, to;
          const Tensor later = poputil::createIpuCopy(g, view, ipu, from, to, "later", method);
          prog.add(program::Copy(from, to));
          const Tensor now = poputil::copyToIpu(g, view, prog, ipu, "now", method);
          for (const Tensor& t : {now, later}) {
            const auto tiles = g.getTileMapping(t);
            for (unsigned tile = 0; tile < tiles.size(); ++tile) EXPECT_TRUE(tiles[tile].empty() || tile / 16 == ipu);
          }
          return std::vector<Tensor>{now, later};
        });
        expect_close(out[0], shuffled_values(x));
        expect_close(out[1], shuffled_values(x));
      }
}

TEST(Copies, CloneNAndExpandedAliasesAreTensorsOfTheirOwn) {
  for (const Machine machine : kMachines)
    for (const Mapping mapping : kMappings) {
      const Operand x = operand("x", FLOAT, {2, 37}, uniform(-2, 2, 3), mapping);
      const auto out = run(machine, {x}, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
        const Tensor view = shuffled(in[0]);
        const Tensor copies = poputil::cloneN(g, in[0], 3);
        for (unsigned i = 0; i < 3; ++i) prog.add(program::Copy(in[0], copies[i]));
        const Tensor expanded = poputil::cloneAndExpandAliasing(g, view, 5 % g.getTarget().getNumTiles()).first;
        prog.add(program::Copy(view, expanded));
        return std::vector<Tensor>{copies, expanded};
      });
      std::vector<double> three;
      for (unsigned i = 0; i < 3; ++i) three.insert(three.end(), x.values.begin(), x.values.end());
      expect_close(out[0], three);
      expect_close(out[1], shuffled_values(x));
    }
}

TEST(Copies, MetadataTensorsHoldFormatAndScale) {
  for (const Machine machine : kMachines) {
    const auto out = run(machine, {}, [&](Graph& g, std::vector<Tensor>&, Sequence& prog) {
      const Tensor constant = poputil::createConstantMetadataTensor(g, QuarterMetadata::Format::F143, -3);
      const Tensor variable = poputil::createVariableMetadataTensor(g, QuarterMetadata::Format::F152, 4);
      const Tensor bytes = g.addVariable(UNSIGNED_CHAR, {2});
      g.setTileMapping(bytes, 0);
      prog.add(program::Copy(concat(constant.flatten(), variable.flatten()).reinterpret(UNSIGNED_CHAR), bytes));
      return std::vector<Tensor>{bytes};
    });
    expect_close(out[0], {double(QuarterMetadata(QuarterMetadata::Format::F143, -3).getBinary()),
                          double(QuarterMetadata(QuarterMetadata::Format::F152, 4).getBinary())});
  }
}

}  // namespace
}  // namespace oplib
