#include "codelet/store/gp_file.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/archive.h"
#include "base/error.h"
#include "codelet/store/cpu_features.h"

namespace pando {

// Lists of fields for base/archive.h; types are written by name.
template <class A>
void fields(A& a, Field& f) {
  std::string type(name_of(f.type));
  a(f.name, f.kind, f.shape, type, f.layout, f.inner_layout, f.min_align, f.interleaved, f.scalar_rows, f.host_offset, f.host_size);
  const auto known = element_type_named(type);
  f.type = known.value_or(f.type);
  if (!known) f.kind = static_cast<FieldKind>(255);  // is_known rejects it
}
template <class A>
void fields(A& a, ReservedRange& r) {
  a(r.begin, r.size, r.image);
}
template <class A>
void fields(A& a, DeclaredCode& d) {
  a(d.name, d.bytes);
}
template <class A>
void fields(A& a, Codelet& c) {
  a(c.name, c.kind, c.fields, c.host_size, c.host_align, c.code_bytes, c.code_declared, c.shared_code, c.shared_ranges, c.stack_bytes,
    c.uses_tile, c.reserved, c.entry, c.counting, c.uncounted, c.in_assembly, c.addresses_tile, c.reads_cycles);
}
template <class A>
void fields(A& a, Dependency& d) {
  a(d.path, d.hash);
}
template <class A>
void fields(A& a, GpObject& o) {
  a(o.level, o.cpu_features, o.size);
}
template <class A>
void fields(A& a, GpDescription& d) {
  a(d.codelets, d.globals_size, d.globals_align, d.defined, d.undefined, d.libraries, d.objects, d.dependencies, d.target, d.flags,
    d.build);
}

namespace {

constexpr char kMagic[8] = {'P', 'A', 'N', 'D', 'O', 'G', 'P', '\n'};
constexpr std::uint32_t kFormat = 9;

struct Header {
  char magic[8];
  std::uint32_t format;
  std::uint32_t reserved;
  std::uint64_t description_size;
  std::uint64_t bitcode_size;
  std::uint64_t objects_size;
  std::uint64_t checksum;  // of the header up to here and of everything after it
};

std::uint64_t checksum_of(const Header& header, std::string_view body) {
  const std::string_view start(reinterpret_cast<const char*>(&header), offsetof(Header, checksum));
  return content_hash(body, content_hash(start));
}

constexpr bool is_within(auto value, auto last) { return value <= last; }
constexpr bool is_alignment(std::uint32_t n) { return n != 0 && n <= 4096 && (n & (n - 1)) == 0; }

constexpr std::uint32_t kMostHostBytes = 1 << 20;                 // of a vertex
constexpr std::uint64_t kMostTileBytes = std::uint64_t{1} << 32;  // of globals and reserved ranges

// What the executor writes for the field (codelet.h).
std::size_t host_bytes(const Field& f) {
  if (f.shape != FieldShape::scalar) return sizeof(VectorEdge);
  return f.is_edge() ? sizeof(void*) : size_of(f.type);
}

// What no writer writes: the file is damaged in a way that its checksum does not show. Vertices are laid out in the host's memory by
// these numbers, so none may be believed.
bool is_known(const Field& f, const Codelet& c) {
  const bool enums = is_within(f.kind, FieldKind::inout) && is_within(f.shape, FieldShape::vector_list) &&
                     is_within(f.layout, FieldLayout::compact_delta_n) && is_within(f.inner_layout, FieldLayout::compact_delta_n);
  if (!enums || f.name.empty() || !is_alignment(f.min_align)) return false;
  if (!f.is_edge() && f.shape != FieldShape::scalar && f.shape != FieldShape::vector) return false;
  if (f.scalar_rows && f.shape != FieldShape::vector_of_vectors) return false;
  const std::size_t bytes = host_bytes(f), align = std::min<std::size_t>(bytes, 8);
  return f.host_size == bytes && f.host_offset % align == 0 && f.host_offset <= c.host_size && bytes <= c.host_size - f.host_offset;
}

// No two fields lie over each other or have one name.
bool are_apart(std::vector<Field> fields) {
  std::sort(fields.begin(), fields.end(), [](const Field& a, const Field& b) { return a.host_offset < b.host_offset; });
  for (std::size_t i = 1; i < fields.size(); ++i)
    if (fields[i].host_offset < fields[i - 1].host_offset + fields[i - 1].host_size) return false;
  std::sort(fields.begin(), fields.end(), [](const Field& a, const Field& b) { return a.name < b.name; });
  return std::adjacent_find(fields.begin(), fields.end(), [](const Field& a, const Field& b) { return a.name == b.name; }) == fields.end();
}

bool is_known(const ReservedRange& r) { return r.begin <= kMostTileBytes && r.size <= kMostTileBytes; }

bool is_known(const Codelet& c) {
  if (!is_within(c.kind, VertexKind::supervisor) || !is_within(c.counting, CountedBy::run) || c.name.empty() ||
      c.host_size > kMostHostBytes || !is_alignment(c.host_align))
    return false;
  if (!is_known(c.reserved) ||
      !std::all_of(c.shared_ranges.begin(), c.shared_ranges.end(), [](const ReservedRange& r) { return is_known(r); }))
    return false;
  return c.fields.size() <= 0xffff && std::all_of(c.fields.begin(), c.fields.end(), [&](const Field& f) { return is_known(f, c); }) &&
         are_apart(c.fields);
}

bool is_known(const GpDescription& d) {
  return d.globals_size <= kMostTileBytes && is_alignment(d.globals_align) &&
         std::all_of(d.codelets.begin(), d.codelets.end(), [](const Codelet& c) { return is_known(c); });
}

[[noreturn]] void reject(const std::string& name, std::string_view id, std::string_view why) {
  fail(ErrorKind::graph_object_load_error, id, "'{}' cannot be loaded: {}", name, why);
}

}  // namespace

bool is_gp(std::string_view bytes) { return bytes.starts_with(std::string_view(kMagic, sizeof kMagic)); }

bool is_gp_file(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return false;
  char begin[sizeof kMagic];
  std::ifstream file(path, std::ios::binary);
  return file.read(begin, sizeof begin) && is_gp({begin, sizeof begin});
}

std::string write_gp(const GpFile& file) {
  GpDescription described = file.description;
  std::string objects;
  for (GpObject& o : described.objects) {
    o.size = o.code.size();
    objects += o.code;
  }
  ArchiveWriter writer;
  writer(described);
  const std::string& description = writer.bytes();
  Header header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.format = kFormat;
  header.description_size = description.size();
  header.bitcode_size = file.bitcode.size();
  header.objects_size = objects.size();
  const std::string body = description + file.bitcode + objects;
  header.checksum = checksum_of(header, body);
  return std::string(reinterpret_cast<const char*>(&header), sizeof header) + body;
}

GpFile read_gp(std::string_view bytes, const std::string& name) {
  Header header;
  if (bytes.size() < sizeof header || !is_gp(bytes)) reject(name, "gp-foreign", "it is not a codelet object file of this project");
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.format != kFormat)
    reject(name, "gp-version", fmt::format("its format is {}, this library reads {}: compile it again", header.format, kFormat));
  const std::string_view body = bytes.substr(sizeof header);
  std::uint64_t expected = 0;
  if (__builtin_add_overflow(header.description_size, header.bitcode_size, &expected) ||
      __builtin_add_overflow(expected, header.objects_size, &expected) || expected != body.size())
    reject(name, "gp-cut-off", fmt::format("it has {} bytes after its header, expected {}", body.size(), expected));
  if (checksum_of(header, body) != header.checksum) reject(name, "gp-corrupt", "its checksum does not match its content");
  GpFile file;
  ArchiveReader reader(body.substr(0, header.description_size));
  reader(file.description);
  if (!reader.complete() || !is_known(file.description)) reject(name, "gp-description", "its description is malformed");
  file.bitcode = body.substr(header.description_size, header.bitcode_size);
  std::string_view objects = body.substr(header.description_size + header.bitcode_size);
  for (GpObject& o : file.description.objects) {
    if (o.size > objects.size()) reject(name, "gp-description", "its description is malformed");
    o.code = objects.substr(0, o.size);
    objects.remove_prefix(o.size);
  }
  if (!objects.empty()) reject(name, "gp-description", "its description is malformed");
  return file;
}

const GpObject* best_object(const GpDescription& description) {
  const GpObject* best = nullptr;
  for (const GpObject& o : description.objects) {
    const ProcessorLevel* const level = processor_level(o.level);
    if (!missing_cpu_features(o.cpu_features).empty()) continue;
    if (best == nullptr || level == nullptr || is_allowed(*level)) best = &o;
  }
  return best;
}

std::uint64_t content_hash(std::string_view bytes, std::uint64_t seed) {
  constexpr std::uint64_t kPrime = 0x100000001b3, kStart = 0xcbf29ce484222325;
  std::uint64_t hash = (kStart ^ seed) * kPrime ^ bytes.size();
  std::size_t i = 0;
  for (; i + 8 <= bytes.size(); i += 8) {
    std::uint64_t word;
    std::memcpy(&word, bytes.data() + i, 8);
    hash = (hash ^ word) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 32;
  }
  for (; i < bytes.size(); ++i) hash = (hash ^ static_cast<unsigned char>(bytes[i])) * kPrime;
  return hash ^ (hash >> 29);
}

std::string hash_text(std::uint64_t hash) { return fmt::format("{:016x}", hash); }

}  // namespace pando
