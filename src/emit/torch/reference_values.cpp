#include "emit/torch/reference_values.h"

#include "emit/torch/assemble.h"
#include "ir/meaning/made_data.h"
#include "transform/distribute/parts.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace pando::emit {

using namespace ir;
using transform::PieceTable;

namespace {

// A part may lack dimensions of length 1.
Shape box(const Shape& start, const Shape& shape) {
  Shape b = shape;
  b.insert(b.begin(), start.size() - std::min(start.size(), shape.size()), 1);
  return b;
}

double epsilon_of(DType t) {
  return t == DType::float64 ? 0x1p-53 : t == DType::float32 ? 0x1p-24 : t == DType::float16 ? 0x1p-11 : is_float8(t) ? 0x1p-3 : 0;
}

// The error of a sum that is added up in another order, in roundings of the largest element.
constexpr double kRoundings = 4;

}  // namespace

HostTensor MadeData::variable(const std::string& name, DType dtype, const Shape& shape, const HostTensor& own) const {
  const PieceTable::Entry* piece = o_.pieces ? o_.pieces->variable(name) : nullptr;
  const std::string& whole = piece ? piece->whole : name;
  if (is_zero(whole)) return HostTensor(dtype, shape);
  if (!own.empty_handle()) return own;
  HostTensor t(dtype, piece ? o_.pieces->shape_of(whole) : shape);
  make_data(o_.seed, whole, t);
  return piece ? transform::part_of(t, piece->start, box(piece->start, shape)).reshaped(shape) : t;
}

HostTensor MadeData::blocks(const std::string& name, DType dtype, const Shape& shape, std::int64_t wanted) const {
  const auto loads = o_.pieces ? o_.pieces->stream(name) : std::vector<const PieceTable::Entry*>();
  Shape all = loads.empty() ? shape : o_.pieces->shape_of(loads[0]->whole);
  const auto n = static_cast<std::int64_t>(std::max<std::size_t>(1, loads.size()));
  all.insert(all.begin(), (wanted + n - 1) / n);
  HostTensor t(dtype, all);
  make_data(o_.seed, loads.empty() ? name : loads[0]->whole, t);
  if (loads.empty()) return t;
  Shape out_shape = shape;
  out_shape.insert(out_shape.begin(), all[0] * n);
  HostTensor out(dtype, out_shape);
  for (std::int64_t i = 0; i < all[0] * n; ++i) {
    Shape start = loads[static_cast<std::size_t>(i % n)]->start, to(out_shape.size()), one = box(start, shape), here = shape;
    start.insert(start.begin(), i / n);
    one.insert(one.begin(), 1);
    here.insert(here.begin(), 1);
    to[0] = i;
    transform::put_part(out, transform::part_of(t, start, one).reshaped(here), to);
  }
  return out;
}

bool MadeData::is_zero(const std::string& name) const {
  return std::any_of(o_.zeros.begin(), o_.zeros.end(),
                     [&](const std::string& z) { return z.starts_with('*') ? name.ends_with(z.substr(1)) : name == z; });
}

// Whole tensors of the sequential program, where parts are known: what run.py saves.
Tensors joined(const Tensors& variables, const Tensors& outputs, const std::optional<PieceTable>& pieces) {
  Tensors out;
  const auto put = [&](const std::string& prefix, const std::string& name, const HostTensor& t, const PieceTable::Entry* piece,
                       std::size_t blocks) {
    if (!piece) return void(out.insert_or_assign(prefix + name, t));
    const auto& whole = pieces->whole_tensors.at(piece->whole);
    Shape shape(t.shape().begin(), t.shape().begin() + static_cast<std::ptrdiff_t>(blocks)), start(blocks, 0), part = shape;
    const std::size_t missing = whole.shape.size() + blocks - std::min(whole.shape.size() + blocks, t.shape().size());
    shape.insert(shape.end(), whole.shape.begin(), whole.shape.end());
    start.insert(start.end(), piece->start.begin(), piece->start.end());
    part.insert(part.end(), missing, 1);
    part.insert(part.end(), t.shape().begin() + static_cast<std::ptrdiff_t>(blocks), t.shape().end());
    HostTensor& to = out.try_emplace(prefix + piece->whole, whole.dtype, shape).first->second;
    transform::put_part(to, t.reshaped(part), start);
  };
  for (const auto& [name, t] : variables) put("", name, t, pieces ? pieces->variable(name) : nullptr, 0);
  for (const auto& [name, t] : outputs) put("output/", name, t, pieces ? pieces->output(name) : nullptr, 1);
  return out;
}

HostTensor blocks_from(const HostTensor& all, std::int64_t begin, std::int64_t count) {
  Shape start(all.shape().size()), shape = all.shape();
  start[0] = begin;
  shape[0] = count;
  return transform::part_of(all, start, shape);
}

HostTensor behind(const HostTensor& a, const HostTensor& b) {
  Shape shape = b.shape();
  if (a.empty_handle()) return b;
  shape[0] += a.shape()[0];
  HostTensor out(b.dtype(), shape);
  transform::put_part(out, a, Shape(shape.size()));
  Shape at(shape.size());
  at[0] = a.shape()[0];
  transform::put_part(out, b, at);
  return out;
}

void Perturbation::operator()(const OpRow& row, std::vector<HostValue>& results) {
  if (row.view != View::none || row.constant || row.tuple != Tuple::none || row.control != Control::none) return;
  for (HostValue& v : results) change(v, row.elementwise);
}

// An element of a sum has an error of the order of the largest element; of an element-wise op, of its own.
void Perturbation::change(HostValue& v, bool alone) {
  for (HostValue& e : v.elements) change(e, alone);
  const DType t = v.tensor.dtype();
  if (v.tensor.empty_handle() || !is_floating(t)) return;
  double most = 0;
  for (std::int64_t i = 0; i < v.tensor.elements(); ++i) {
    const double x = std::abs(v.tensor.number(i));
    if (std::isfinite(x)) most = std::max(most, x);
  }
  for (std::int64_t i = 0; i < v.tensor.elements(); ++i) {
    state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
    const double u = static_cast<double>(state_ >> 40) * 0x1p-23 - 1, x = v.tensor.number(i);
    // What is exactly 0 stays: a relu's zeros, masks.
    if (x != 0) v.tensor.set(i, x + kRoundings * epsilon_of(t) * (alone ? std::abs(x) : most) * u);
  }
}

// Steps that are compared; 0, with the reason.
std::int64_t steps_of(const Options& options, double operations, Emitted& out) {
  if (options.check_steps && *options.check_steps == 0) {
    out.unchecked = "--check 0";
    return 0;
  }
  if (options.check_steps) return *options.check_steps;
  if (operations <= kMostOperations) return 1;
  out.unchecked =
      fmt::format("a step takes {:.2g} operations, and the interpreter is simple: --check 1 asks for them all the same", operations);
  return 0;
}

// Tolerances: eight times what other roundings have changed here, and some roundings of the largest element.
void write_reference(const Tensors& exact, const Tensors& perturbed, std::int64_t steps, const Options& options, Emitted& out) {
  TensorFile file;
  for (const auto& [name, t] : exact) {
    const HostTensor& other = perturbed.at(name);
    double difference = 0, most = 0;
    for (std::int64_t i = 0; i < t.elements(); ++i) {
      const double a = t.number(i), b = other.number(i);
      if (std::isfinite(a) && std::isfinite(b)) difference = std::max(difference, std::abs(a - b));
      if (std::isfinite(a)) most = std::max(most, std::abs(a));
    }
    const double allowed = 8 * difference + 4 * kRoundings * epsilon_of(t.dtype()) * most;
    file.add(name, t, &allowed);
  }
  file.put("reference", out.files);
  nlohmann::ordered_json told = {{"steps", steps}, {"seed", options.seed}, {"zeros", options.zeros}};
  if (options.samples > 0) told["samples"] = options.samples;
  out.files.push_back({"check.json", told.dump() + "\n"});
}

}  // namespace pando::emit
