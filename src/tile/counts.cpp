#include "tile/counts.h"

#include <memory>
#include <vector>

#include "codelet/foreign_call.h"
#include "tile/descriptor.h"

namespace pando::tile {

namespace {

constexpr std::uint64_t kAlignment = 16;  // the widest access of a tile: what code can ask of an address

template <class T>
void append(std::string& key, T value) {
  key.append(reinterpret_cast<const char*>(&value), sizeof value);
}

std::uint64_t state_bytes(const Program& program, const Codelet& codelet, const VertexInstance& v) {
  std::uint64_t at = v.state;
  for (const Field& f : codelet.fields) {
    if (f.is_edge()) continue;
    std::uint32_t count = 1;
    if (f.shape != FieldShape::scalar) {
      std::memcpy(&count, program.state.data() + at, sizeof count);
      at += sizeof count;
    }
    at += count * size_of(f.type);
  }
  return at - v.state;
}

PANDO_CALLS_CODELETS std::uint64_t call(KernelCount count, const char* object) { return count(object); }
PANDO_CALLS_CODELETS void call(KernelCountBlocks count, const char* object, std::uint64_t* blocks) { count(object, blocks); }

// The host object of a vertex of which sizes and state are read, and no element: an address says no more than how it is aligned.
class SizesOnly {
 public:
  SizesOnly(const Program& program, const Codelet& codelet, const VertexInstance& v) {
    const auto take = [&](std::uint64_t bytes, std::uint64_t align) {
      rooms_.push_back(std::make_unique<char[]>(bytes + align));
      const auto begin = reinterpret_cast<std::uintptr_t>(rooms_.back().get());
      return rooms_.back().get() + (align - begin % align) % align;
    };
    const auto place = [](const Operand& o) {
      return o.count > 0 ? reinterpret_cast<void*>(std::uintptr_t{0x10000} + o.offset % kAlignment) : nullptr;
    };
    object = take(codelet.host_size, std::max<std::uint64_t>(codelet.host_align, 16));
    std::memset(object, 0, codelet.host_size);
    fill_descriptor(program, codelet, v, object, place, take);
  }
  char* object = nullptr;

 private:
  std::vector<std::unique_ptr<char[]>> rooms_;
};

}  // namespace

// Sizes, what is left of addresses, and state.
std::string VertexCounts::key_of(const VertexInstance& v, CodeletId id) const {
  const Codelet& codelet = library_[id];
  std::string key;
  append(key, id.value);
  const Operand* operand = program_.operands.data() + v.operands;
  for (const Field& f : codelet.fields) {
    if (!f.is_edge()) continue;
    std::uint32_t rows = 1;
    if (f.has_rows()) append(key, rows = (operand++)->count);
    for (std::uint32_t r = 0; r < rows; ++r, ++operand) {
      append(key, operand->count);
      append(key, static_cast<std::uint8_t>(operand->offset % kAlignment));
    }
  }
  return key.append(program_.state, v.state, state_bytes(program_, codelet, v));
}

std::uint64_t VertexCounts::of(const VertexInstance& v, CodeletId id) {
  if (id.index() >= library_.size()) return kUnestimated;
  const Codelet& codelet = library_[id];
  if (codelet.counting != CountedBy::sizes || codelet.count == nullptr) return kUnestimated;
  const auto [at, added] = known_.try_emplace(key_of(v, id), 0);
  if (!added) return at->second;
  return at->second = call(codelet.count, SizesOnly(program_, codelet, v).object);
}

const std::vector<std::uint64_t>& VertexCounts::blocks_of(const VertexInstance& v, CodeletId id, const CodeLines& lines) {
  static const std::vector<std::uint64_t> kNone;
  const Codelet& codelet = library_[id];
  if (codelet.counting != CountedBy::sizes || lines.count == nullptr) return kNone;
  const auto [at, added] = known_blocks_.try_emplace(key_of(v, id), lines.blocks.size());
  if (added) call(lines.count, SizesOnly(program_, codelet, v).object, at->second.data());
  return at->second;
}

}  // namespace pando::tile
