#include "poplibs/popops/elementwise/estimate.h"

#include "dag.h"
#include "kernels/elementwise/elementwise_program.h"

namespace popops::internal {

using namespace pando::kernels;

namespace {

constexpr unsigned kCycle = 256;
constexpr unsigned kCall = 20;  // cycles of a vertex before its first element

// 64 bits are loaded, computed and stored in a cycle each.
unsigned simple(Type type) { return 2 * kCycle * static_cast<unsigned>(size_of(type)) / 8; }

}  // namespace

unsigned cost_of(Unary op, Type type) {
  const unsigned cycles = cycles_of(op, type), lanes = type == Type::f16 ? 2 : 1;
  return cycles == 0 ? simple(type) : cycles * kCycle / lanes;
}

unsigned cost_of(Binary op, Type type) {
  const unsigned cycles = cycles_of(op, type);
  return cycles == 0 ? simple(type) * 3 / 2 : cycles * kCycle;
}

pando::poplibs::Estimates estimates_of_functions(const std::string& vertex, unsigned operands) {
  using namespace poplar;
  return pando::poplibs::for_types(vertex, {FLOAT, HALF, INT, UNSIGNED_INT}, [operands](const poplar::Type& type) {
    return [operands, type = kernel_type(type)](const VertexIntrospector& v, const Target& target) {
      const unsigned op = v.getFieldInfo("op").getInitialValue<unsigned char>(target);
      const std::uint64_t n = v.getFieldInfo("out").size();
      const unsigned cost = operands == 1 ? cost_of(static_cast<Unary>(op), type) : cost_of(static_cast<Binary>(op), type);
      return VertexPerfEstimate(kCall + (cost * n + kCycle - 1) / kCycle, is_floating(type) ? n : 0);
    };
  });
}

namespace {

// Two operations are a product's; what is kept is copied.
unsigned cost_of_link(LinkOp op, Type type) {
  if (op == LinkOp::product) return cost_of(Binary::multiply, type) + cost_of(Binary::add, type);
  return op == LinkOp::keep ? 2 * simple(type) : cost_of(static_cast<Binary>(op), type);
}

}  // namespace

ProgramCost cost_of_program(const std::vector<unsigned>& code) {
  const unsigned operands = code[0] & 255, outputs = code[0] >> 8 & 255, constants = code[1] & 0xffff, instructions = code[1] >> 16;
  ProgramCost cost;
  std::size_t at = kHeaderWords + operands * kOperandWords + outputs * kOutputWords + constants * kConstantWords;
  for (std::size_t i = 0; i < instructions; ++i, at += words_of(code[at])) {
    const unsigned word = code[at];
    const Type type = static_cast<Type>(word >> 16 & 255);
    const unsigned op = word >> 8 & 255;
    switch (static_cast<Kind>(word & 255)) {
      case Kind::unary: cost.cycles += cost_of(static_cast<Unary>(op), type); break;
      case Kind::binary: cost.cycles += cost_of(static_cast<Binary>(op), type); break;
      case Kind::chain:
        for (unsigned k = 0; k < op; ++k) {
          const LinkOp link = static_cast<LinkOp>(code[at + kInstructionWords + k] & 255);
          cost.cycles += cost_of_link(link, type);
          cost.flops += link == LinkOp::product ? 2 : link == LinkOp::keep ? 0 : 1;
        }
        cost.flops -= 1;
        break;
      default: cost.cycles += 2 * simple(type);
    }
    cost.flops += is_floating(type) ? 1 : 0;
  }
  return cost;
}

poplar::VertexPerfEstimate estimate_of_program(const ProgramCost& cost, std::uint64_t elements, std::uint64_t rows) {
  return {kCall + 10 * rows + (cost.cycles * elements + kCycle - 1) / kCycle, cost.flops * elements};
}

poplar::VertexPerfEstimate estimate_program(const poplar::VertexIntrospector& vertex, const poplar::Target& target) {
  const std::vector<unsigned> code = vertex.getFieldInfo("code").getInitialValues<unsigned>(target);
  const unsigned operands = code[0] & 255, outputs = code[0] >> 8 & 255;
  const char* const fields[] = {"out1", "out2", "out4", "out8"};
  const poplar::FieldData out = vertex.getFieldInfo(fields[code[kHeaderWords + operands * kOperandWords] & 3]);
  std::uint64_t elements = 0;
  const std::size_t rows = out.size() / outputs + (out.size() % outputs != 0);
  for (std::size_t r = 0; r < rows; ++r) elements += out.getSizeAtIndex(r);
  return estimate_of_program(cost_of_program(code), elements, rows);
}

poplar::VertexPerfEstimate estimate_dag(const Dag& dag, std::size_t elements, std::size_t rows) {
  const std::vector<bool> needed = dag.needed();
  std::uint64_t per_element = 0, flops = 0;
  for (std::size_t i = 0; i < dag.nodes.size(); ++i) {
    const Node& n = dag.nodes[i];
    if (!needed[i] || n.kind == NodeKind::operand || n.kind == NodeKind::constant) continue;
    const Type type = kernel_type(dag.nodes[static_cast<std::size_t>(n.arguments[0])].type);
    per_element += n.kind == NodeKind::unary    ? cost_of(static_cast<Unary>(n.op), type)
                   : n.kind == NodeKind::binary ? cost_of(static_cast<Binary>(n.op), type)
                                                : 2 * simple(type);
    flops += is_floating(type) ? 1 : 0;
  }
  return poplar::VertexPerfEstimate(kCall + 10 * rows + (per_element * elements + kCycle - 1) / kCycle, flops * elements);
}

}  // namespace popops::internal
