#include "ir/shared/tuples.h"
#include "ir/rows/gradient.h"
#include "ir/rows/inference.h"

#include <algorithm>
#include <cstring>

namespace pando::ir {

std::vector<Type> tuple_elements(const Inference& in, std::size_t i) {
  const Type& t = in.operand(i);
  if (t.is_tensor()) in.reject("not-a-tuple", "operand {} is a tensor; it takes a tuple with one tensor for each device", i);
  if (t.elements.empty()) in.reject("empty-tuple", "operand {} is an empty tuple", i);
  std::vector<Type> elements;
  for (TypeId e : t.elements) {
    elements.push_back(in.module().type(e));
    if (!elements.back().is_tensor()) in.reject("nested-tuple", "operand {} has a tuple as an element", i);
    if (elements.back().dtype != elements[0].dtype) {
      in.reject("different-types", "operand {} has elements of {} and {}", i, name_of(elements[0].dtype), name_of(elements.back().dtype));
    }
  }
  return elements;
}

std::vector<Type> equal_elements(const Inference& in, std::size_t i) {
  std::vector<Type> elements = tuple_elements(in, i);
  for (const Type& e : elements) {
    if (e.shape != elements[0].shape)
      in.reject("different-shapes", "operand {} has elements of shapes {} and {}", i, to_string(elements[0].shape), to_string(e.shape));
  }
  return elements;
}

void tuple_result(Inference& in, std::vector<Type> elements) {
  Type t;
  t.kind = Type::Kind::tuple;
  for (const Type& e : elements) t.elements.push_back(in.module().type(e));
  in.result(std::move(t));
}

Ints devices_of(const Inference& in) {
  const Ints& devices = in.attributes().ints("devices");
  if (devices.empty()) in.reject("no-devices", "'devices' is empty");
  Ints sorted = devices;
  std::sort(sorted.begin(), sorted.end());
  if (sorted.front() < 0) in.reject("device-number", "there is no device {}", sorted.front());
  if (sorted.back() > kMostDevice) in.reject("device-number", "there is no device {}; the highest is {}", sorted.back(), kMostDevice);
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) in.reject("device-twice", "device {} is listed twice", *twice);
  return devices;
}

std::int64_t dimension_of(const Inference& in, const Type& type, std::string_view name) {
  const std::int64_t d = in.attributes().integer(name);
  if (d < 0 || d >= type.rank()) in.reject("dimension-range", "'{}' is {}; the tensor has {} dimensions", name, d, type.rank());
  return d;
}

Type on_device(Type type, std::int64_t device) {
  type.place.device = Device::numbered(static_cast<std::int32_t>(device));
  if (type.place.tiles == TileSet::undefined) type.place.tiles = TileSet::compute;
  return type;
}

namespace {

// A tensor as (outer, extent of the dimension, bytes inside it).
struct Rows {
  std::int64_t outer = 1, extent = 1;
  std::size_t inner = 1;
};

Rows rows_of(const HostTensor& t, std::int64_t dimension) {
  Rows r;
  const auto d = static_cast<std::size_t>(dimension);
  for (std::size_t i = 0; i < d; ++i) r.outer *= t.shape()[i];
  r.extent = t.shape()[d];
  r.inner = size_of(t.dtype());
  for (std::size_t i = d + 1; i < t.shape().size(); ++i) r.inner *= static_cast<std::size_t>(t.shape()[i]);
  return r;
}

}  // namespace

HostTensor part_along(const HostTensor& whole, std::int64_t dimension, std::int64_t index, std::int64_t parts) {
  Shape shape = whole.shape();
  shape[static_cast<std::size_t>(dimension)] /= parts;
  HostTensor out(whole.dtype(), shape);
  const Rows rows = rows_of(whole, dimension);
  const std::size_t block = static_cast<std::size_t>(rows.extent / parts) * rows.inner;
  std::byte* to = out.writable();
  for (std::int64_t o = 0; o < rows.outer; ++o) {
    std::memcpy(to + static_cast<std::size_t>(o) * block,
                whole.data() + static_cast<std::size_t>(o * rows.extent) * rows.inner + static_cast<std::size_t>(index) * block, block);
  }
  return out;
}

HostTensor joined_along(std::span<const HostTensor> parts, std::int64_t dimension) {
  Shape shape = parts[0].shape();
  shape[static_cast<std::size_t>(dimension)] = 0;
  for (const HostTensor& p : parts) shape[static_cast<std::size_t>(dimension)] += p.shape()[static_cast<std::size_t>(dimension)];
  HostTensor out(parts[0].dtype(), shape);
  const Rows whole = rows_of(out, dimension);
  std::byte* to = out.writable();
  for (std::int64_t o = 0; o < whole.outer; ++o) {
    for (const HostTensor& p : parts) {
      const Rows rows = rows_of(p, dimension);
      const std::size_t block = static_cast<std::size_t>(rows.extent) * rows.inner;
      std::memcpy(to, p.data() + static_cast<std::size_t>(o) * block, block);
      to += block;
    }
  }
  return out;
}

void check_reduction(const Inference& in) {
  const std::string& op = in.attributes().text("op");
  for (std::string_view known : {"add", "mean", "mul", "min", "max"}) {
    if (op == known) return;
  }
  in.reject("unknown-reduction", "there is no reduction '{}'; there are add, mean, mul, min and max", op);
}

HostTensor reduced(std::span<const HostTensor> parts, const std::string& op) {
  HostTensor out(parts[0].dtype(), parts[0].shape());
  for (std::int64_t i = 0; i < out.elements(); ++i) {
    double v = parts[0].number(i);
    for (const HostTensor& p : parts.subspan(1)) {
      const double x = p.number(i);
      v = op == "mul" ? v * x : op == "min" ? std::min(v, x) : op == "max" ? std::max(v, x) : v + x;
    }
    out.set(i, op == "mean" ? v / static_cast<double>(parts.size()) : v);
  }
  return out;
}

std::vector<ValueId> elements_of(Expansion& e, std::size_t i) {
  const ValueId tuple = e.operand(i);
  const std::size_t n = e.type_of(tuple).elements.size();
  std::vector<ValueId> all;
  for (std::size_t k = 0; k < n; ++k) all.push_back(e.op("get_element", {tuple}, {{"index", static_cast<std::int64_t>(k)}}));
  return all;
}

void give_tuple(Expansion& e, std::span<const ValueId> elements) { e.result(e.ops("make_tuple", elements)[0]); }

std::int64_t device_of(const Expansion& e, ValueId v) { return e.type_of(v).place.device.value; }

ValueId moved(Expansion& e, ValueId v, std::int64_t device) {
  const std::int64_t source = device_of(e, v);
  if (source == device) return v;
  return e.op("ipu_copy", {v}, {{"source", std::max<std::int64_t>(0, source)}, {"destination", device}});
}

ValueId part_along(Expansion& e, ValueId v, std::int64_t dimension, std::int64_t index, std::int64_t parts) {
  const std::int64_t size = e.type_of(v).shape[static_cast<std::size_t>(dimension)] / parts;
  return e.op("slice", {v},
              {{"start", Ints{index * size}}, {"stop", Ints{(index + 1) * size}}, {"step", Ints{1}}, {"axis", Ints{dimension}}});
}

ValueId joined_along(Expansion& e, std::span<const ValueId> parts, std::int64_t dimension) {
  return e.ops("concat", parts, {{"axis", dimension}})[0];
}

ValueId reduced(Expansion& e, std::span<const ValueId> parts) { return e.ops("all_reduce", parts, {{"op", e.attributes().text("op")}})[0]; }

std::vector<HostTensor> tensors_of(const HostValue& tuple) {
  std::vector<HostTensor> all;
  for (const HostValue& e : tuple.elements) all.push_back(e.tensor);
  return all;
}

HostValue tuple_of(std::vector<HostTensor> tensors) {
  HostValue v;
  for (HostTensor& t : tensors) v.elements.push_back({std::move(t), {}});
  return v;
}

}  // namespace pando::ir
