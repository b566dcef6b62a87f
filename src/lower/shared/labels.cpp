#include "lower/shared/labels.h"

#include "lower/shared/expressions.h"
#include "lower/shared/reductions.h"
#include "lower/terms/element_types.h"

#include <popops/Cast.hpp>
#include <popops/ElementWise.hpp>
#include <popops/EncodingConstants.hpp>
#include <popops/Reduce.hpp>
#include <popops/SelectScalarFromRows.hpp>
#include <poputil/TileMapping.hpp>

namespace pando::lower {

using poplar::Tensor;

Labels labels_of(OpLowering& o) {
  o.need(Library::popops);
  poplar::Graph& g = o.graph();
  Labels l;
  l.probs = o.operand(0);
  l.classes = l.probs.dim(l.probs.rank() - 1);
  l.probs = l.probs.reshape({l.probs.numElements() / l.classes, l.classes});
  l.rows = l.probs.dim(0);
  l.labels = o.operand(1).flatten();
  if (l.labels.elementType() != poplar::INT) l.labels = popops::cast(g, l.labels, poplar::INT, o.program(), o.name() + "/labels");
  const int classes = static_cast<int>(l.classes);
  Any valid = pe::And(pe::Gte(pe::_1, pe::Const(0)), pe::Lt(pe::_1, pe::Const(classes)));
  const ir::AttributeValue* ignored = o.attributes().find("ignore_index");
  const bool mean = o.attributes().text("reduction") == "mean";
  if (ignored) {
    const Any counts = pe::NotEqual(pe::_1, pe::Const(static_cast<int>(std::get<std::int64_t>(*ignored))));
    valid = pe::And(valid, counts);
    if (mean) {
      const Tensor ones = popops::map(g, pe::Cast(counts, poplar::FLOAT), {l.labels}, o.program(), o.name() + "/counted");
      const Tensor sum = popops::reduce(g, ones, {0}, popops::Operation::ADD, o.program(), o.name() + "/counted");
      l.divisor = popops::map(g, pe::Max(pe::_1, pe::Const(1.0f)), {sum}, o.program(), o.name() + "/divisor");
    }
  }
  l.valid = popops::map(g, valid, {l.labels}, o.program(), o.name() + "/valid");
  if (!l.divisor.valid()) {
    l.divisor = g.addConstant(poplar::FLOAT, {}, mean ? static_cast<float>(std::max<std::size_t>(l.rows, 1)) : 1.0f, o.name() + "/divisor");
    g.setTileMapping(l.divisor, 0);
  }
  return l;
}

Tensor label_probabilities(OpLowering& o, const Labels& l) {
  poplar::Graph& g = o.graph();
  const Any masked = pe::Select(pe::_1, pe::Const(static_cast<int>(MASKED_LABEL_CODE)), pe::_2);
  const Tensor indices = popops::map(g, masked, {l.labels, l.valid}, o.program(), o.name() + "/indices");
  const Tensor p = popops::selectScalarFromRows(g, l.probs, indices.reinterpret(poplar::UNSIGNED_INT), o.program(), o.name() + "/chosen");
  return p.elementType() == poplar::FLOAT ? p : popops::cast(g, p, poplar::FLOAT, o.program(), o.name() + "/chosen");
}

void reduce_terms(OpLowering& o, const Labels& l, const Tensor& terms, std::size_t i) {
  if (o.attributes().text("reduction") == "none") return o.result(i, as_result(o, terms, i));
  const Tensor sum = popops::reduce(o.graph(), terms, {0}, popops::Operation::ADD, o.program(), o.name() + "/sum");
  const Tensor loss = popops::map(o.graph(), pe::Divide(pe::_1, pe::_2), {sum, l.divisor}, o.program(), o.name());
  o.result(i, as_result(o, loss, i));
}

Tensor class_numbers(OpLowering& o, const Labels& l) {
  ir::HostTensor numbers(ir::DType::int32, {1, static_cast<std::int64_t>(l.classes)});
  for (std::int64_t c = 0; c < numbers.elements(); ++c) numbers.set_integer(c, c);
  const Tensor t = add_constant(o.graph(), numbers, o.name() + "/classes");
  poputil::mapTensorLinearly(o.graph(), t);
  return t;
}

Tensor loss_gradient(OpLowering& o, const Labels& l, const Tensor& t) {
  const Tensor wide = t.elementType() == poplar::FLOAT ? t : popops::cast(o.graph(), t, poplar::FLOAT, o.program(), o.name() + "/dy");
  return wide.numElements() == l.rows ? wide.reshape({l.rows, 1}) : wide.reshape({1, 1});
}

}  // namespace pando::lower
