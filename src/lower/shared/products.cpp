#include "lower/shared/products.h"
#include "lower/parts/parts.h"
#include "lower/shared/objective.h"

#include <pando/cpu_device.hpp>

#include "lower/terms/element_types.h"

#include <fmt/format.h>
#include <poplin/Epilogue.hpp>
#include <poplin/MatMul.hpp>

#include <algorithm>

namespace pando::lower {

using poplar::Tensor;
using Extents = std::vector<std::size_t>;

namespace {

struct Sizes {
  // Groups that both operands are repeated to; 1 where all of the left operand's batches are rows of one product.
  Extents batches;
  std::size_t groups = 1, m = 1, k = 1, n = 1;
  bool one_product = true;
};

Sizes sizes_of(Extents a, Extents b) {
  Sizes s;
  if (a.size() == 1) a.insert(a.begin(), 1);
  if (b.size() == 1) b.push_back(1);
  s.k = a.back();
  s.n = b.back();
  s.m = a[a.size() - 2];
  const std::size_t rank = std::max(a.size(), b.size()) - 2;
  for (std::size_t d = 0; d < rank; ++d) {
    const std::size_t from_a = d + a.size() >= rank + 2 ? a[d + a.size() - 2 - rank] : 1;
    const std::size_t from_b = d + b.size() >= rank + 2 ? b[d + b.size() - 2 - rank] : 1;
    s.batches.push_back(from_a == 1 ? from_b : from_a);
    s.groups *= s.batches.back();
  }
  s.one_product = b.size() == 2;
  if (s.one_product) {
    s.m *= s.groups;
    s.groups = 1;
  }
  return s;
}

// An operand as {groups, rows, columns}; batches that it does not have are repeated.
Tensor grouped(Tensor t, const Sizes& s, std::size_t rows, std::size_t columns) {
  while (t.rank() < s.batches.size() + 2) t = t.expand({0});
  for (unsigned d = 0; d < s.batches.size(); ++d) {
    if (t.dim(d) != s.batches[d]) t = t.broadcast(static_cast<unsigned>(s.batches[d]), d);
  }
  return t.reshape({s.groups, rows, columns});
}

poplar::OptionFlags options_of(const ir::Module& m, ir::OpId op, const Libraries& libraries) {
  poplar::OptionFlags flags;
  const ir::Attributes& a = m.attributes(op);
  if (a.has("available_memory_proportion"))
    flags.set("availableMemoryProportion", fmt::format("{}", a.number("available_memory_proportion")));
  else if (libraries.product_share() > 0)
    flags.set("availableMemoryProportion", fmt::format("{}", libraries.product_share()));
  std::string partials = libraries.settings().text("partials_type_matmuls");
  if (a.has("partials_type")) partials = a.dtype("partials_type") == ir::DType::float16 ? "half" : "float";
  // The products of a network read what others write. Plans for cycles arrange their operands as the machine likes them.
  if (!plans_for_cycles(libraries.settings())) flags.set("pando.layout", "blocks");
  if (!partials.empty()) flags.set("partialsType", partials);
  return flags;
}

// With where the result begins, if that matters to who reads it.
poplar::OptionFlags options_of_product(OpLowering& o) {
  poplar::OptionFlags flags = options_of(o.module(), o.op(), o.libraries());
  if (pando::reads_in_place(o.graph().getTarget())) return flags;
  if (const auto tile = o.parts().layouts.tile_to_begin_at(o.module().result(o.op())))
    flags.set("pando.firstTile", fmt::format("{}", *tile));
  return flags;
}

}  // namespace

Tensor product(OpLowering& o, const Tensor& lhs, const Tensor& rhs, ir::DType result, const Tensor& into) {
  o.need(Library::poplin);
  const Sizes s = sizes_of(lhs.shape(), rhs.shape());
  const auto options = options_of_product(o);
  const poplar::Type type = element_type(result);
  if (s.one_product) {
    const Tensor a = lhs.reshape({s.m, s.k}), b = rhs.reshape({s.k, s.n});
    if (into.valid()) {
      Tensor out = into.reshape({s.m, s.n});
      poplin::matMulWithOutput(o.graph(), a, b, out, o.program(), o.name(), options, &o.planning());
      return into;
    }
    return poplin::matMul(o.graph(), a, b, o.program(), type, o.name(), options, &o.planning());
  }
  const Tensor a = grouped(lhs.rank() == 1 ? lhs.expand({0}) : lhs, s, s.m, s.k);
  const Tensor b = grouped(rhs, s, s.k, s.n);
  if (into.valid()) {
    Tensor out = into.reshape({s.groups, s.m, s.n});
    poplin::matMulGroupedWithOutput(o.graph(), a, b, out, o.program(), o.name(), options, &o.planning());
    return into;
  }
  return poplin::matMulGrouped(o.graph(), a, b, o.program(), type, o.name(), options, &o.planning());
}

namespace {

// Whether all who read the result transpose its matrices.
bool is_transposed(OpLowering& o) {
  const ir::Module& m = o.module();
  Analysis& analysis = o.parts().analysis;
  const ir::ValueId v = m.result(o.op());
  const auto rank = m.type_of(v).rank();
  if (rank < 2 || m.type_of(m.operand(o.op(), 0)).rank() != rank || m.type_of(m.operand(o.op(), 1)).rank() != rank ||
      analysis.users(v).empty())
    return false;
  for (const auto& [op, index] : analysis.users(v)) {
    if (m.row(op).view_form != ir::ViewForm::permuted) return false;
    const ir::Ints& order = m.attributes(op).ints("permutation");
    for (std::int64_t d = 0; d < rank; ++d)
      if (order[static_cast<std::size_t>(d)] != (d + 2 < rank ? d : 2 * rank - 3 - d)) return false;
  }
  return true;
}

// On the CPU device, whose products write rows anywhere: where the result will be copied, or where the readers want the rows of a result
// whose groups they only put in another order.
Tensor where_readers_want(OpLowering& o) {
  const ir::Module& m = o.module();
  Parts& l = o.parts();
  const ir::ValueId v = m.result(o.op());
  const auto rank = m.type_of(v).rank();
  if (!l.destinations.chooses()) return {};
  if (const Tensor home = l.destinations.of(v); home.valid()) return home;
  if (const Tensor part = l.destinations.place_in_whole(v); part.valid()) return part;
  const bool grouped = m.type_of(m.operand(o.op(), 0)).rank() > 2 && m.type_of(m.operand(o.op(), 1)).rank() > 2;
  if (rank < 3 || !grouped) return {};
  const auto users = l.analysis.users(v);
  const auto keeps_rows = [&](const auto& use) {
    return m.row(use.first).view_form == ir::ViewForm::permuted && m.attributes(use.first).ints("permutation").back() == rank - 1;
  };
  if (users.empty() || !std::all_of(users.begin(), users.end(), keeps_rows)) return {};
  const Tensor preference = l.layouts.preference(v).tensor;
  return preference.valid() && preference.shape() == extents(m.type_of(v).shape) && preference.isParallelWriteable() ? preference
                                                                                                                     : Tensor();
}

}  // namespace

void lower_product(OpLowering& o) {
  const Tensor a = o.operand(0), b = o.operand(1);
  const ir::DType type = o.result_type().dtype;
  if (!is_transposed(o)) return o.result(0, product(o, a, b, type, where_readers_want(o)));
  // The transposed product of the transposed operands lies as its readers want it.
  const auto turned = [](const Tensor& t) { return t.dimRoll(t.rank() - 1, t.rank() - 2); };
  const Tensor part = o.parts().destinations.place_in_whole(o.module().result(o.op()));
  o.result(0, turned(product(o, turned(b), turned(a), type, part.valid() ? turned(part) : Tensor())));
}

namespace {

// An operand of an epilogue in the shape of the product's: the result's own, one number, or the columns of a row. Invalid for others.
Tensor as_operand(const Tensor& t, const Extents& result, const Extents& of_product) {
  if (!t.valid() || t.shape() == result) return t.valid() ? t.reshape(of_product) : t;
  if (t.numElements() == 1) return t.reshape({});
  return t.numElements() == result.back() && t.dim(t.rank() - 1) == result.back() ? t.flatten() : Tensor();
}

}  // namespace

bool finish_product(OpLowering& o, Epilogue& e) {
  const Tensor a = o.operand(0), b = o.operand(1);
  const ir::DType type = o.operand_type(0).dtype;
  if (is_transposed(o) || o.result_type().dtype != type || (type != ir::DType::float32 && type != ir::DType::float16)) return false;
  o.need(Library::poplin);
  const Sizes s = sizes_of(a.shape(), b.shape());
  const Extents result = extents(o.result_type().shape), of_product = s.one_product ? Extents{s.m, s.n} : Extents{s.groups, s.m, s.n};
  poplin::Epilogue epilogue{e.results, {}, e.product};
  for (std::size_t i = 0; i < e.operands.size(); ++i) {
    epilogue.operands.push_back(as_operand(e.operands[i], result, of_product));
    if (i != e.product && !epilogue.operands.back().valid()) return false;
  }
  std::vector<Tensor> outs;
  for (const Tensor& t : e.outs) outs.push_back(t.valid() ? t.reshape(of_product) : t);
  const auto options = options_of_product(o);
  const bool done = s.one_product ? poplin::matMulWithEpilogue(o.graph(), a.reshape({s.m, s.k}), b.reshape({s.k, s.n}), epilogue, outs,
                                                               o.program(), o.name(), options, &o.planning())
                                  : poplin::matMulGroupedWithEpilogue(o.graph(), grouped(a.rank() == 1 ? a.expand({0}) : a, s, s.m, s.k),
                                                                      grouped(b, s, s.k, s.n), epilogue, outs, o.program(), o.name(),
                                                                      options, &o.planning());
  if (!done) return false;
  for (std::size_t r = 0; r < outs.size(); ++r) e.outs[r] = outs[r].reshape(result);
  return true;
}

Tensor product_layout(const LayoutRequest& r) {
  const ir::Type &a = r.module.type_of(r.module.operand(r.op, 0)), &b = r.module.type_of(r.module.operand(r.op, 1));
  if (r.operand > 1 || a.rank() < 1 || b.rank() < 2) return {};
  if (a.dtype != ir::DType::float16 && a.dtype != ir::DType::float32) return {};
  const Sizes s = sizes_of(extents(a.shape), extents(b.shape));
  const poplar::Type type = element_type(a.dtype), result = element_type(r.module.type_of(r.module.result(r.op)).dtype);
  const auto options = options_of(r.module, r.op, r.libraries);
  auto* const planning = &r.libraries.planning();
  const Extents own = extents(r.operand == 0 ? a.shape : b.shape);
  Tensor t;
  if (s.one_product) {
    const Extents lhs{s.m, s.k}, rhs{s.k, s.n};
    t = r.operand == 0 ? poplin::createMatMulInputLHS(r.graph, type, result, lhs, rhs, r.name, options, planning)
                       : poplin::createMatMulInputRHS(r.graph, type, result, lhs, rhs, r.name, options, planning);
  } else {
    const std::size_t rows = r.operand == 0 ? s.m * s.k : s.k * s.n;
    std::size_t elements = 1;
    for (std::size_t d : own) elements *= d;
    if (elements != s.groups * rows) return {};  // repeated batches
    const Extents lhs{s.groups, s.m, s.k}, rhs{s.groups, s.k, s.n};
    t = r.operand == 0 ? poplin::createMatMulGroupedInputLHS(r.graph, type, result, lhs, rhs, r.name, options, planning)
                       : poplin::createMatMulGroupedInputRHS(r.graph, type, result, lhs, rhs, r.name, options, planning);
  }
  return t.reshape(own);
}

}  // namespace pando::lower
