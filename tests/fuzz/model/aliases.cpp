#include "model/aliases.h"

#include "pando/model_error.hpp"

#include <numeric>

namespace pando::fuzz {

using namespace pando::ir;

bool AliasSteps::step(GraphId graph, Tensors& held) {
  graph_ = graph;
  if (held.empty()) return false;
  // What was made last is chosen often: views of views.
  const TensorId t = random_.chance(50) ? held[held.size() - 1 - random_.below(std::min<std::size_t>(3, held.size()))] : random_.pick(held);
  if (type(t).dtype != DType::float32 && type(t).dtype != DType::int32) return false;
  try {
    const Tensors made = random_.chance(55) ? view(t, held) : change(t, held);
    held.insert(held.end(), made.begin(), made.end());
    return !made.empty();
  } catch (const ModelError&) { return false; }
}

AliasSteps::Tensors AliasSteps::op(std::string_view name, const Tensors& operands, const Attributes& attributes, unsigned in_place) {
  const bool here = random_.chance(in_place);
  if (here && is_constant(operands[0])) return {};
  return b_.op(graph_, name, operands, attributes, {}, here);
}

bool AliasSteps::is_constant(TensorId t) const {
  const Builder::Tensor& tensor = b_.tensor(t);
  if (tensor.kind == Builder::TensorKind::constant) return true;
  return std::any_of(tensor.bases.begin(), tensor.bases.end(), [&](TensorId base) { return is_constant(base); });
}

TensorId AliasSteps::constant(DType dtype, const Shape& shape) {
  HostTensor data(dtype, shape);
  for (std::int64_t i = 0; i < data.elements(); ++i) data.set_integer(i, static_cast<std::int64_t>(random_.below(9)) - 4);
  return b_.add_constant(graph_, std::move(data), "c");
}

// Another tensor of the same type, most likely one that the graph holds; perhaps `t` itself or a view of it.
TensorId AliasSteps::partner(const Tensors& held, TensorId t) {
  Tensors fit;
  for (TensorId other : held) {
    if (type(other).dtype == type(t).dtype && shape(other) == shape(t)) fit.push_back(other);
  }
  return fit.size() > 1 && random_.chance(75) ? random_.pick(fit) : constant(type(t).dtype, shape(t));
}

Attributes AliasSteps::some_slice(const Shape& shape) {
  const auto axis = static_cast<std::int64_t>(random_.below(shape.size()));
  const auto extent = static_cast<std::uint64_t>(shape[static_cast<std::size_t>(axis)]);
  const std::uint64_t start = random_.below(extent), stop = random_.between(start + 1, extent);
  return {{"start", Ints{static_cast<std::int64_t>(start)}},
          {"stop", Ints{static_cast<std::int64_t>(stop)}},
          {"step", Ints{1}},
          {"axis", Ints{axis}}};
}

AliasSteps::Tensors AliasSteps::view(TensorId t, const Tensors& held) {
  const Shape s = shape(t);
  if (s.empty() || elements_of(s) == 0) return {};
  switch (random_.below(7)) {
    case 0:
    case 1: return op("slice", {t}, some_slice(s), 50);
    case 2: {
      Ints order(s.size());
      std::iota(order.begin(), order.end(), 0);
      for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random_.below(i)]);
      return op("transpose", {t}, {{"permutation", order}}, 50);
    }
    case 3: {
      Ints to = s;
      std::reverse(to.begin(), to.end());
      if (random_.chance(40)) to = {elements_of(s)};
      return op("reshape", {t}, {{"shape", to}}, 50);
    }
    case 4:
      return elements_of(s) > 60 ? Tensors()
                                 : op("concat", {t, partner(held, t)}, {{"axis", static_cast<std::int64_t>(random_.below(s.size()))}}, 30);
    case 5: return op(random_.chance(50) ? "identity" : "detach", {t}, {}, 40);
    default: {
      const auto axis = static_cast<std::int64_t>(random_.below(s.size()));
      const std::int64_t extent = s[static_cast<std::size_t>(axis)];
      if (extent < 2) return {};
      return op("split", {t}, {{"splits", Ints{1, extent - 1}}, {"axis", axis}});
    }
  }
}

// Elements move within a tensor.
AliasSteps::Tensors AliasSteps::shift(TensorId t) {
  const Shape s = shape(t);
  const auto axis = static_cast<std::size_t>(random_.below(s.size()));
  const auto extent = static_cast<std::uint64_t>(s[axis]);
  const std::uint64_t length = random_.between(1, extent), from = random_.below(extent - length + 1),
                      to = random_.below(extent - length + 1);
  const auto piece = [&](std::uint64_t start) {
    return Attributes{{"start", Ints{static_cast<std::int64_t>(start)}},
                      {"stop", Ints{static_cast<std::int64_t>(start + length)}},
                      {"step", Ints{1}},
                      {"axis", Ints{static_cast<std::int64_t>(axis)}}};
  };
  const Tensors source = op("slice", {t}, piece(from), 50);
  return source.empty() ? source : op("slice_assign", {t, source[0]}, piece(to), 70);
}

// Two tensors get what the other one had, perhaps after another update.
AliasSteps::Tensors AliasSteps::swap(TensorId a, TensorId b) {
  if (is_constant(a) || is_constant(b)) return {};
  const TensorId had[] = {b_.op(graph_, "identity", std::vector{a}, {}, {}, random_.chance(20))[0],
                          b_.op(graph_, "identity", std::vector{b}, {}, {}, false)[0]};
  Tensors made;
  for (const auto& [t, value] : {std::pair{a, had[1]}, {b, had[0]}}) {
    const TensorId into = random_.chance(50) ? b_.op(graph_, "add", std::vector{t, constant(type(t).dtype, shape(t))}, {}, {}, true)[0] : t;
    made.push_back(b_.op(graph_, "copy_var_update_", std::vector{into, value})[0]);
  }
  return made;
}

AliasSteps::Tensors AliasSteps::change(TensorId t, const Tensors& held) {
  const Shape s = shape(t);
  switch (random_.below(9)) {
    case 6: return s.empty() || elements_of(s) == 0 || is_constant(t) ? Tensors() : shift(t);
    case 7: return swap(t, partner(held, t));
    case 8:
      if (s.size() != 2 || s[0] != s[1]) return {};
      // A tensor and its mirror image.
      {
        const Tensors mirrored = op("transpose", {t}, {{"permutation", Ints{1, 0}}}, 50);
        return mirrored.empty() ? mirrored
                                : op(random_.chance(50) ? "add" : "sub",
                                     {random_.chance(70) ? t : mirrored[0], random_.chance(70) ? mirrored[0] : t}, {}, 60);
      }
    case 0: return is_constant(t) ? Tensors() : op("copy_var_update_", {t, partner(held, t)});
    case 1:
      if (s.empty() || elements_of(s) == 0) return {};
      {
        const Attributes piece = some_slice(s);
        const Tensors source = op("slice", {partner(held, t)}, piece, 30);
        return source.empty() ? source : op("slice_assign", {t, source[0]}, piece, 60);
      }
    case 2: return op("sub", {t, partner(held, t)}, {}, 65);
    case 3: return op("maximum", {partner(held, t), t, partner(held, t)});
    case 4: return op("negate", {t});
    default: return op("add", {t, random_.chance(50) ? constant(type(t).dtype, s) : partner(held, t)}, {}, 65);
  }
}

}  // namespace pando::fuzz
