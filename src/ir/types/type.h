// Types of values. Place is part of the type: an op has no place of its own, and what moves data between places is an op.
//
//     Tensor[(2, 3), float32]                 no place was said
//     Tensor[(2, 3), float32, 0]              on device 0, compute tiles, in tile memory
//     Tensor[(2, 3), float32, 1.io]           on the IO tiles of device 1; 1.any: on some tiles of it; io: on the IO tiles of some device
//     Tensor[(2, 3), float32, d0]             on the device that a pmap binds to d0
//     Tensor[(2, 3), float32, 0, streaming]   in Streaming Memory
//     Tensor[(3), float32, 0, shard_of (2, 3)]    one replica's shard of a tensor of six elements
//     float32, float32[0]                     scalars: tensors of rank 0
//     Tuple[float32[0], float32[1]]
#pragma once

#include "ir/types/dtype.h"
#include "ir/types/ids.h"

#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

namespace pando::ir {

using Shape = std::vector<std::int64_t>;

// Product of the dimensions. Shapes whose product does not fit in 63 bits are rejected where types are made.
std::int64_t elements_of(const Shape& shape);
// "(2, 3)"; "()" for a scalar.
std::string to_string(const Shape& shape);

// A device, a device variable of a pmap, or nothing said.
struct Device {
  std::int32_t value = -1;

  static constexpr Device numbered(std::int32_t n) { return {n}; }
  static constexpr Device variable(std::int32_t n) { return {-2 - n}; }
  constexpr bool known() const { return value != -1; }
  constexpr bool is_variable() const { return value < -1; }
  constexpr std::int32_t variable_number() const { return -2 - value; }
  friend constexpr bool operator==(const Device&, const Device&) = default;
};

enum class TileSet : std::uint8_t { undefined, compute, io };
enum class Memory : std::uint8_t { tile, streaming, host };

struct Place {
  Device device;
  TileSet tiles = TileSet::undefined;
  Memory memory = Memory::tile;
  friend bool operator==(const Place&, const Place&) = default;
};

struct Type {
  enum class Kind : std::uint8_t { tensor, tuple };
  Kind kind = Kind::tensor;
  DType dtype = DType::float32;
  Place place;
  Shape shape;
  // Not empty: the value is one replica's shard (one dimension) of a tensor of this shape.
  Shape meta_shape;
  // Of a tuple.
  std::vector<TypeId> elements;
  friend bool operator==(const Type&, const Type&) = default;

  std::int64_t rank() const { return static_cast<std::int64_t>(shape.size()); }
  bool is_tensor() const { return kind == Kind::tensor; }
};

Type tensor_type(DType dtype, Shape shape, Place place = {});

// Every type of a module once. Equal types have equal ids.
class TypeTable {
 public:
  TypeId intern(const Type& type);
  const Type& operator[](TypeId id) const { return types_[id.index()]; }
  std::size_t size() const { return types_.size(); }
  std::string to_string(TypeId id) const;
  std::string to_string(const Type& type) const;
  std::int64_t bytes_of(TypeId id) const;

 private:
  // A deque: references stay good while types are added.
  std::deque<Type> types_;
  std::unordered_multimap<std::size_t, TypeId> by_hash_;
};

}  // namespace pando::ir
