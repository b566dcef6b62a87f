#include "codelet/runtime/worker_memory.h"

#include <cstddef>
#include <cstring>
#include <memory>

#include "base/error.h"
#include "codelet/runtime/tile_context.h"
#include "codelet/store/codelet.h"

namespace pando {

static_assert(offsetof(PandoWorkerMemory, weights) == kWeightsOffset);
static_assert(offsetof(PandoWorkerMemory, registers) == kSharedRegistersOffset);
static_assert(offsetof(PandoWorkerMemory, accumulators) == kAccumulatorsOffset && offsetof(PandoWorkerMemory, control) == kControlOffset);
static_assert(offsetof(PandoWorkerMemory, window) == kWindowOffset && sizeof(PandoWorkerMemory::window) == kWindowBytes);

namespace {

constexpr std::uint32_t kStateBytes = 0x8000;  // of the window, for the state; the rest is for stacks
// Pieces of addresses for what is not in the tile: above the memory of an IPU's tiles, or of a CPU's, below the end of the addresses.
constexpr std::uint32_t kPieceBytes = 0x10000, kPieces = 8;
constexpr std::uint32_t kPiecesOfIpus = 0x180000, kPiecesOfCpus = 0xfff00000;
constexpr std::uint32_t kMostBeyond = 64;  // that code may read behind the end of memory: loads run ahead

PandoWorkerMemory& memory_of_thread() {
  thread_local const auto memory = std::make_unique<PandoWorkerMemory>();
  return *memory;
}

struct Pieces {
  char* begin[kPieces] = {};
  unsigned next = 0;
};
Pieces& pieces_of_thread() {
  thread_local Pieces pieces;
  return pieces;
}
std::uint32_t first_piece(const PandoWorkerMemory& memory) {
  return memory.tile_bytes <= kPiecesOfIpus - kTileAddress ? kPiecesOfIpus : kPiecesOfCpus;
}
// Null: no piece has the address.
char* in_piece(const PandoWorkerMemory& memory, std::uint32_t address, std::uint32_t bytes) {
  const std::uint32_t offset = address - first_piece(memory);
  if (offset >= kPieces * kPieceBytes || offset % kPieceBytes + bytes > kPieceBytes) return nullptr;
  char* begin = pieces_of_thread().begin[offset / kPieceBytes];
  return begin ? begin + offset % kPieceBytes : nullptr;
}

// Lays a vertex's state out as a tile has it.
class StateWriter {
 public:
  StateWriter(PandoWorkerMemory& memory, const char* vertex) : memory_(memory), vertex_(vertex) {}

  void write(const StateField* fields, unsigned count) {
    for (unsigned i = 0; i < count; ++i) end_ = std::max(end_, fields[i].offset + 8);
    for (unsigned i = 0; i < count; ++i) field(fields[i]);
  }

 private:
  [[noreturn]] void too_large() const {
    fail(ErrorKind::application_runtime_error, "assembly-state", "tile {}: the state of a vertex in assembly has more than {} bytes",
         tile_context().tile, kStateBytes);
  }

  std::uint32_t take(std::uint64_t bytes) {
    end_ = (end_ + 7) / 8 * 8;
    if (bytes > kStateBytes || end_ + bytes > kStateBytes) too_large();
    const std::uint32_t at = end_;
    end_ += static_cast<std::uint32_t>(bytes);
    return at;
  }

  void put(std::uint32_t at, std::uint32_t value, unsigned bytes = 4) {
    if (at + bytes > kStateBytes) too_large();
    std::memcpy(memory_.window + at, &value, bytes);
  }

  // Where the tile has what lies there on the host. State that is no edge is copied.
  std::uint32_t address_of(const void* data, std::uint64_t bytes, bool is_edge) {
    const std::uint64_t offset = static_cast<std::uint64_t>(static_cast<const char*>(data) - memory_.tile);
    if (bytes == 0 || data == nullptr) return kTileAddress;
    if (offset < memory_.tile_bytes && bytes <= memory_.tile_bytes - offset && offset + bytes < (std::uint64_t{1} << 32) - kTileAddress)
      return kTileAddress + static_cast<std::uint32_t>(offset);
    if (is_edge)
      fail(ErrorKind::application_runtime_error, "assembly-operand",
           "tile {}: an operand of a vertex in assembly lies beyond 32 bits of the tile's memory", tile_context().tile);
    const std::uint32_t at = take(bytes);
    std::memcpy(memory_.window + at, data, bytes);
    return kWindowAddress + at;
  }

  void vector(std::uint32_t at, StateForm form, unsigned shift, std::uint32_t address, std::uint64_t size) {
    switch (form) {
      case StateForm::span:
        put(at, address);
        put(at + 4, static_cast<std::uint32_t>(size));
        break;
      case StateForm::short_span: put(at, (address & 0xfffff) | static_cast<std::uint32_t>(size) << 20); break;
      case StateForm::scaled_pointer: put(at, address >> shift, 2); break;
      default: put(at, address); break;
    }
  }

  static std::uint32_t record_bytes(StateForm form) { return form == StateForm::span ? 8 : form == StateForm::scaled_pointer ? 2 : 4; }

  void field(const StateField& f) {
    const char* from = vertex_ + f.host_offset;
    if (f.form == StateForm::bytes) {
      if (f.offset + f.bytes > kStateBytes) too_large();
      std::memcpy(memory_.window + f.offset, from, f.bytes);
      return;
    }
    VectorEdge edge{};
    std::memcpy(&edge, from, f.form == StateForm::pointer && f.rows == StateForm::bytes && f.is_edge == 2 ? 8 : 16);
    if (f.form == StateForm::list) return list(f, edge);
    if (f.rows != StateForm::bytes) return rows(f, edge);
    const std::uint64_t size = f.is_edge == 2 ? 1 : edge.size;
    vector(f.offset, f.form, f.shift, address_of(edge.data, size * f.bytes, f.is_edge != 0), size);
  }

  void rows(const StateField& f, const VectorEdge& outer) {
    const auto* row = static_cast<const VectorEdge*>(outer.data);
    const std::uint32_t bytes = record_bytes(f.rows), table = take(outer.size * bytes);
    for (std::uint64_t r = 0; r < outer.size; ++r)
      vector(table + static_cast<std::uint32_t>(r) * bytes, f.rows, f.shift, address_of(row[r].data, row[r].size * f.bytes, true),
             row[r].size);
    vector(f.offset, f.form, f.shift, kWindowAddress + table, outer.size);
  }

  // DELTANELEMENTS: base and count, table and count; an entry is an offset in units of the alignment and a number of elements.
  void list(const StateField& f, const VectorEdge& outer) {
    const auto* row = static_cast<const VectorEdge*>(outer.data);
    const std::uint32_t table = take(outer.size * 4);
    std::uint32_t base = ~0u;
    for (std::uint64_t r = 0; r < outer.size; ++r)
      if (row[r].size > 0) base = std::min(base, address_of(row[r].data, row[r].size * f.bytes, true));
    if (base == ~0u) base = kTileAddress;
    const unsigned bits = 21 - f.shift;
    for (std::uint64_t r = 0; r < outer.size; ++r) {
      const std::uint32_t offset = row[r].size > 0 ? address_of(row[r].data, row[r].size * f.bytes, true) - base : 0;
      put(table + static_cast<std::uint32_t>(r) * 4, (offset >> f.shift) | static_cast<std::uint32_t>(row[r].size) << bits);
    }
    const auto size = static_cast<std::uint32_t>(outer.size);
    put(f.offset, (base & 0xffffff) | (size >> 8) << 24);
    put(f.offset + 4, ((kWindowAddress + table) & 0xffffff) | (size & 0xff) << 24);
  }

  PandoWorkerMemory& memory_;
  const char* vertex_;
  std::uint32_t end_ = 0;
};

}  // namespace

PandoWorkerMemory* begin_worker(const void* vertex, const void* fields, unsigned count) {
  PandoWorkerMemory& memory = memory_of_thread();
  const TileContext& context = tile_context();
  memory.tile = context.base;
  memory.tile_bytes = context.size;
  if (vertex) StateWriter(memory, static_cast<const char*>(vertex)).write(static_cast<const StateField*>(fields), count);
  return &memory;
}

unsigned tile_address(const void* host) {
  const PandoWorkerMemory& memory = memory_of_thread();
  const auto* p = static_cast<const char*>(host);
  if (p == nullptr) return 0;
  const auto offset = static_cast<std::uint64_t>(p - memory.tile);
  if (offset <= memory.tile_bytes && offset < first_piece(memory) - kTileAddress) return kTileAddress + static_cast<std::uint32_t>(offset);
  const auto in_window = static_cast<std::uint64_t>(p - memory.window);
  if (in_window < kWindowBytes) return kWindowAddress + static_cast<std::uint32_t>(in_window);
  Pieces& pieces = pieces_of_thread();
  for (unsigned i = 0; i < kPieces; ++i) {
    const auto in = static_cast<std::uint64_t>(p - pieces.begin[i]);
    if (pieces.begin[i] && in >= kPieceBytes / 4 && in < kPieceBytes * 3 / 4)
      return first_piece(memory) + i * kPieceBytes + static_cast<std::uint32_t>(in);
  }
  const unsigned i = pieces.next++ % kPieces;
  pieces.begin[i] = reinterpret_cast<char*>((reinterpret_cast<std::uintptr_t>(p) - kPieceBytes / 2) & ~std::uintptr_t{63});
  return first_piece(memory) + i * kPieceBytes + static_cast<std::uint32_t>(p - pieces.begin[i]);
}

void* host_address(unsigned tile) {
  PandoWorkerMemory& memory = memory_of_thread();
  if (tile == 0) return nullptr;
  if (tile - kTileAddress <= memory.tile_bytes && tile >= kTileAddress && tile < first_piece(memory))
    return memory.tile + (tile - kTileAddress);
  if (tile - kWindowAddress < kWindowBytes) return memory.window + (tile - kWindowAddress);
  if (char* place = in_piece(memory, tile, 1)) return place;
  return memory.tile + static_cast<std::int32_t>(tile - kTileAddress);
}

void end_worker(void* vertex, const void* fields, unsigned count) {
  const PandoWorkerMemory& memory = memory_of_thread();
  const auto* all = static_cast<const StateField*>(fields);
  for (unsigned i = 0; i < count; ++i)
    if (all[i].form == StateForm::bytes)
      std::memcpy(static_cast<char*>(vertex) + all[i].host_offset, memory.window + all[i].offset, all[i].bytes);
}

void* worker_address(unsigned address, unsigned access, const char* where, const void* code, unsigned code_bytes) {
  PandoWorkerMemory& memory = memory_of_thread();
  const unsigned bytes = access & 0xff;
  const bool writes = (access & kAccessWrites) != 0;
  const auto reject = [&](const std::string& why) {
    fail(ErrorKind::application_runtime_error, "assembly-address", "tile {}: {}: {} {} bytes at address {:#x}, {}", tile_context().tile,
         where, writes ? "it writes" : "it reads", bytes, address, why);
  };
  if (address % bytes != 0) reject("which is not a multiple of that");
  const auto within = [&](std::uint64_t begin, std::uint64_t size) {
    return address >= begin && address + std::uint64_t{bytes} <= begin + size;
  };
  if (within(kTileAddress, memory.tile_bytes)) return memory.tile + (address - kTileAddress);
  if (within(kWindowAddress, kWindowBytes)) return memory.window + (address - kWindowAddress);
  if (!writes && within(kCodeAddress, code_bytes)) return const_cast<char*>(static_cast<const char*>(code)) + (address - kCodeAddress);
  if (char* place = in_piece(memory, address, bytes)) return place;
  alignas(16) static const char zeros[16] = {};
  if (!writes && within(kTileAddress + memory.tile_bytes, kMostBeyond)) return const_cast<char*>(zeros);
  reject(fmt::format("outside of the tile's memory ({:#x} to {:#x})", kTileAddress, kTileAddress + memory.tile_bytes));
  return nullptr;
}

}  // namespace pando
