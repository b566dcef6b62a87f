#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <istream>
#include <memory>
#include <new>
#include <optional>
#include <ostream>
#include <string_view>

#include "base/archive.h"
#include "base/error.h"
#include "tile/packed_rows.h"
#include "tile/program.h"

// The binary form: magic, version, payload size, checksum of the payload, payload. Bump kVersion with any change of a field
// list below or of an enumeration's order.
namespace pando {

template <class A>
void fields(A& a, MemoryRegion& r) {
  a(r.name, r.begin, r.end, r.executable, r.interleaved);
}

template <class A>
void fields(A& a, Machine& m) {
  a(m.name, m.arch, m.doc, m.ipus, m.tiles_per_ipu, m.workers, m.bounded_memory, m.regions, m.memory_element_bytes, m.clock_hz,
    m.exchange_bytes_per_cycle, m.memcpy_bytes_per_cycle, m.tiles_per_shared_exchange_bus, m.exchange_bus_sharing, m.data_path_bits,
    m.float_vector_width, m.half_vector_width, m.rpt_count_max, m.stride_bits, m.atomic_store_bytes, m.f16_in_f16_out_conv_units,
    m.f16_in_f32_out_conv_units, m.f32_in_f32_out_conv_units, m.conv_unit_pipeline_depth, m.conv_unit_coeff_load_bytes_per_cycle,
    m.conv_unit_input_load_elems_f16, m.conv_unit_input_load_elems_f32, m.sync_cycles_internal, m.launch_cycles, m.local_copy_call_cycles,
    m.link_bytes_per_second, m.links, m.fabric_columns, m.fabric_rows, m.fabric_lanes, m.exchange_landing_cycles, m.sync_seconds_per_hop,
    m.host_bytes_per_second, m.host_latency_seconds, m.streaming_bytes_per_second, m.streaming_latency_seconds);
}

template <class A>
void fields(A& a, PrintFormat& f) {
  a(f.summarise_threshold, f.edge_items, f.max_line_width, f.digits, f.float_format, f.separator, f.open_bracket, f.close_bracket);
}

}  // namespace pando

namespace pando::tile {
namespace {

constexpr char kMagic[8] = {'P', 'A', 'N', 'D', 'O', 'T', 'I', 'L'};
constexpr std::uint32_t kVersion = 6;

struct Header {
  char magic[8];
  std::uint32_t version = 0;
  std::uint32_t reserved = 0;
  std::uint64_t bytes = 0;
  std::uint64_t checksum = 0;
};
static_assert(sizeof(Header) == 32);

}  // namespace

static_assert(kIsBulk<Operand> && kIsBulk<VertexInstance> && kIsBulk<VertexGroup>, "these large tables are copied in bulk");
static_assert(kIsBulk<Move>, "packed as the words that it is");

template <>
struct RowWords<Allocation> {
  static constexpr std::size_t kCount = 8;
  using Words = std::array<std::uint32_t, kCount>;
  static Words to(const Allocation& x) {
    const auto low = [](std::uint64_t n) { return static_cast<std::uint32_t>(n); };
    return {x.tile.value,
            x.name.value,
            static_cast<std::uint32_t>(x.category) | std::uint32_t{x.always_live} << 8 | std::uint32_t{x.estimated} << 9,
            low(x.offset),
            low(x.offset >> 32),
            low(x.size),
            low(x.size >> 32),
            x.live};
  }
  static bool from(const Words& w, Allocation& x) {
    const auto wide = [](std::uint32_t low, std::uint32_t high) { return std::uint64_t{high} << 32 | low; };
    x = {TileId(w[0]),     NameId(w[1]), static_cast<Category>(w[2] & 255), (w[2] >> 8 & 1) != 0, (w[2] >> 9 & 1) != 0, wide(w[3], w[4]),
         wide(w[5], w[6]), w[7]};
    return w[2] >> 10 == 0;
  }
};

// A long table. No bulk: what counts is what it refers to.
template <class Row>
struct Packed {
  explicit Packed(std::vector<Row>& all) : rows(all) {}
  ~Packed() {}
  std::vector<Row>& rows;
};
static_assert(!kIsBulk<Packed<Move>>);
template <class Row>
void fields(ArchiveWriter& a, Packed<Row>& p) {
  a(pack(p.rows));
}
template <class Row>
void fields(ArchiveReader& a, Packed<Row>& p) {
  std::string bytes;
  a(bytes);
  if (!unpack(bytes, p.rows))
    fail(ErrorKind::graph_object_load_error, "executable-corrupt", "the executable is corrupt: {} bytes of it are no table", bytes.size());
}

template <class A>
void fields(A& a, Exchange& e) {
  Packed<Move> receive{e.receive}, arrange{e.arrange};
  a(e.name, receive, arrange, e.gathers);
}
template <class A>
void fields(A& a, Location& l) {
  a(l.tile, l.offset, l.type);
}
template <class A>
void fields(A& a, ComputeStep& c) {
  Packed<Move> bound{c.bound};
  a(c.name, c.compute_set, c.stream, c.groups, c.result, bound);
}
template <class A>
void fields(A& a, Transfer& t) {
  Packed<Move> moves{t.moves};
  a(t.kind, t.name, t.to_device, t.type, t.host_bytes, moves, t.index, t.row_bytes, t.rows);
}
template <class A>
void fields(A& a, PrintInfo& p) {
  a(p.title, p.shape, p.format);
}
template <class A>
void fields(A& a, Instruction& i) {
  a(i.op, i.sync, i.a, i.b, i.target, i.count, i.order, i.name);
}
template <class A>
void fields(A& a, Stream& s) {
  a(s.name, s.ipu, s.io, s.tiles, s.code, s.entries);
}
template <class A>
void fields(A& a, Sync& m) {
  a(m.streams);
}
template <class A>
void fields(A& a, Channel& c) {
  a(c.name, c.sender, c.receiver, c.capacity, c.bytes, c.out_slot, c.in_slot, c.sends, c.receives, c.store, c.cross, c.take, c.direct);
}
template <class A>
void fields(A& a, Image& i) {
  a(i.begin, i.bytes, i.tiles);
}
template <class A>
void fields(A& a, FifoInfo& f) {
  a(f.handle, f.to_device, f.type, f.elements, f.broadcast, f.depth);
}
template <class A>
void fields(A& a, RemoteInfo& r) {
  a(r.handle, r.type, r.elements, r.repeats);
}
template <class A>
void fields(A& a, HostFunctionInfo& h) {
  a(h.handle, h.inputs, h.outputs);
}
template <class A>
void fields(A& a, HandleInfo& h) {
  a(h.name, h.bytes, h.write, h.read);
}
template <class A>
void fields(A& a, Program& p) {
  Packed<Allocation> allocations{p.allocations};
  Packed<Move> initial_moves{p.initial_moves};
  a(p.machine, p.replication, p.programs, p.names, p.streams, p.syncs, p.channels, p.computes, p.exchanges, p.transfers, p.prints,
    p.locations, p.replica_maps, p.vertices, p.operands, p.state, p.fifos, p.remote_buffers, p.host_functions, p.handles, p.functions,
    p.tile_bytes, allocations, p.live_ranges, p.initial_data, initial_moves, p.globals, p.images, p.replica_index, p.codelet_names,
    p.modules, p.out_of_memory);
}

void write(const Program& program, std::ostream& out) {
  ArchiveWriter writer;
  writer(program);
  Header header;
  std::copy(std::begin(kMagic), std::end(kMagic), header.magic);
  header.version = kVersion;
  header.bytes = writer.bytes().size();
  header.checksum = checksum(writer.bytes());
  out.write(reinterpret_cast<const char*>(&header), sizeof header);
  out.write(writer.bytes().data(), static_cast<std::streamsize>(writer.bytes().size()));
}

namespace {

// What a stream still holds, if it can tell.
std::optional<std::uint64_t> bytes_left(std::istream& in) {
  const std::istream::pos_type at = in.tellg();
  if (at == std::istream::pos_type(-1) || !in.seekg(0, std::ios::end)) {
    in.clear();
    return std::nullopt;
  }
  const std::istream::pos_type end = in.tellg();
  in.seekg(at);
  return static_cast<std::uint64_t>(end - at);
}

// Bytes that are not set to zero before they are read, in huge pages if there are many: taking small pages from the operating
// system would cost more than reading.
struct Payload {
  struct Free {
    void operator()(char* p) const { std::free(p); }
  };
  std::unique_ptr<char[], Free> bytes;
  std::uint64_t size = 0, capacity = 0;
  std::string_view view() const { return {bytes.get(), size}; }
  void reserve(std::uint64_t n) {
    constexpr std::uint64_t kHugePage = 2u << 20, kCacheLine = 64;
    const std::uint64_t align = n >= 4 * kHugePage ? kHugePage : kCacheLine, rounded = (n + align - 1) / align * align;
    std::unique_ptr<char[], Free> larger(static_cast<char*>(std::aligned_alloc(align, rounded)));
    if (!larger) throw std::bad_alloc();
    if (align == kHugePage) madvise(larger.get(), rounded, MADV_HUGEPAGE);
    if (size > 0) std::copy_n(bytes.get(), size, larger.get());
    bytes = std::move(larger);
    capacity = n;
  }
};

// A corrupt size must not ask for memory that the file does not fill: a stream that cannot tell its size is read in pieces.
Payload read_payload(std::istream& in, std::uint64_t bytes) {
  constexpr std::uint64_t kPiece = 64u << 20;
  const std::optional<std::uint64_t> left = bytes_left(in);
  const std::uint64_t piece = left && *left >= bytes ? bytes : std::min(kPiece, left.value_or(kPiece));
  Payload payload;
  while (payload.size < bytes) {
    const std::uint64_t n = std::min(std::max<std::uint64_t>(piece, 1), bytes - payload.size);
    if (payload.size + n > payload.capacity) payload.reserve(std::min(bytes, std::max(payload.size + n, 2 * payload.capacity)));
    in.read(payload.bytes.get() + payload.size, static_cast<std::streamsize>(n));
    payload.size += static_cast<std::uint64_t>(in.gcount());
    if (!in)
      fail(ErrorKind::graph_object_load_error, "executable-truncated", "the executable ends after {} of {} bytes: the file is cut short",
           payload.size, bytes);
  }
  return payload;
}

}  // namespace

Program read(std::istream& in) {
  Header header;
  if (!in.read(reinterpret_cast<char*>(&header), sizeof header) || !std::equal(std::begin(kMagic), std::end(kMagic), header.magic))
    fail(ErrorKind::graph_object_load_error, "executable-foreign", "this is no executable of this library: it does not begin with '{}'",
         std::string(kMagic, sizeof kMagic));
  if (header.version != kVersion)
    fail(ErrorKind::graph_object_load_error, "executable-version",
         "the executable has format version {}; this library reads version {}: compile the program again", header.version, kVersion);
  const Payload payload = read_payload(in, header.bytes);
  if (checksum(payload.view()) != header.checksum)
    fail(ErrorKind::graph_object_load_error, "executable-corrupt", "the executable is corrupt: its checksum does not match its {} bytes",
         payload.size);
  Program program;
  ArchiveReader reader(payload.view());
  reader(program);
  if (!reader.complete())
    fail(ErrorKind::graph_object_load_error, "executable-corrupt", "the executable is corrupt: its fields do not fill its {} bytes",
         payload.size);
  return program;
}

}  // namespace pando::tile
