#include "ir/types/type.h"

#include "base/error.h"
#include "ir/types/hash.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace pando::ir {

namespace {

std::size_t hash_of(const Type& t) {
  std::size_t h = static_cast<std::size_t>(t.kind) * 31 + static_cast<std::size_t>(t.dtype);
  h = mixed(h, static_cast<std::size_t>(t.place.device.value) * 16 + static_cast<std::size_t>(t.place.tiles) * 4 +
                   static_cast<std::size_t>(t.place.memory));
  for (std::int64_t d : t.shape) h = mixed(h, static_cast<std::size_t>(d));
  h = mixed(h, 77);
  for (std::int64_t d : t.meta_shape) h = mixed(h, static_cast<std::size_t>(d));
  for (TypeId e : t.elements) h = mixed(h, e.value);
  return h;
}

void check_shape(const Shape& shape) {
  std::int64_t product = 1;
  for (std::int64_t d : shape) {
    if (d < 0) fail(ErrorKind::tensor_creation_error, "negative-dimension", "a shape has the dimension {}: {}", d, to_string(shape));
    if (__builtin_mul_overflow(product, d, &product) || product > (std::int64_t{1} << 56)) {
      fail(ErrorKind::tensor_creation_error, "shape-too-large", "a tensor of shape {} has more elements than a host can hold",
           to_string(shape));
    }
  }
}

std::string place_text(const Place& place) {
  std::string text;
  if (place.device.known()) {
    text = place.device.is_variable() ? fmt::format("d{}", place.device.variable_number()) : std::to_string(place.device.value);
    if (place.tiles != TileSet::compute) text += place.tiles == TileSet::io ? ".io" : ".any";
  } else if (place.tiles != TileSet::undefined) {
    text = place.tiles == TileSet::io ? "io" : "compute";
  }
  if (place.memory == Memory::tile) return text;
  if (!text.empty()) text += ", ";
  return text + (place.memory == Memory::streaming ? "streaming" : "host");
}

}  // namespace

std::int64_t elements_of(const Shape& shape) {
  std::int64_t n = 1;
  for (std::int64_t d : shape) n *= d;
  return n;
}

std::string to_string(const Shape& shape) { return fmt::format("({})", fmt::join(shape, ", ")); }

Type tensor_type(DType dtype, Shape shape, Place place) {
  Type t;
  t.dtype = dtype;
  t.shape = std::move(shape);
  t.place = place;
  return t;
}

TypeId TypeTable::intern(const Type& type) {
  const std::size_t h = hash_of(type);
  auto [begin, end] = by_hash_.equal_range(h);
  for (auto it = begin; it != end; ++it) {
    if (types_[it->second.index()] == type) return it->second;
  }
  check_shape(type.shape);
  check_shape(type.meta_shape);
  const TypeId id(static_cast<TypeId::rep>(types_.size()));
  types_.push_back(type);
  by_hash_.emplace(h, id);
  return id;
}

std::string TypeTable::to_string(const Type& t) const {
  if (t.kind == Type::Kind::tuple) {
    std::string text = "Tuple[";
    for (std::size_t i = 0; i < t.elements.size(); ++i) text += (i ? ", " : "") + to_string(t.elements[i]);
    return text + "]";
  }
  std::string place = place_text(t.place);
  if (!t.meta_shape.empty()) place += (place.empty() ? "" : ", ") + fmt::format("shard_of {}", ir::to_string(t.meta_shape));
  if (t.shape.empty()) return place.empty() ? std::string(name_of(t.dtype)) : fmt::format("{}[{}]", name_of(t.dtype), place);
  return fmt::format("Tensor[{}, {}{}{}]", ir::to_string(t.shape), name_of(t.dtype), place.empty() ? "" : ", ", place);
}

std::string TypeTable::to_string(TypeId id) const { return to_string(types_[id.index()]); }

std::int64_t TypeTable::bytes_of(TypeId id) const {
  const Type& t = types_[id.index()];
  if (t.is_tensor()) return elements_of(t.shape) * static_cast<std::int64_t>(size_of(t.dtype));
  std::int64_t sum = 0;
  for (TypeId e : t.elements) sum += bytes_of(e);
  return sum;
}

}  // namespace pando::ir
