#include "codelet/gp_file.h"

#include <cstring>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace pando {

using nlohmann::json;

namespace {

constexpr char kMagic[8] = {'P', 'A', 'N', 'D', 'O', 'G', 'P', '\n'};
constexpr std::uint32_t kFormat = 2;

struct Header {
  char magic[8];
  std::uint32_t format;
  std::uint32_t reserved;
  std::uint64_t description_size;
  std::uint64_t bitcode_size;
  std::uint64_t object_size;
  std::uint64_t checksum;  // of the header up to here and of everything after it
};

std::uint64_t checksum_of(const Header& header, std::string_view body) {
  const std::string_view start(reinterpret_cast<const char*>(&header), offsetof(Header, checksum));
  return content_hash(body, content_hash(start));
}

json to_json(const Field& f) {
  return {{"name", f.name},
          {"kind", static_cast<int>(f.kind)},
          {"shape", static_cast<int>(f.shape)},
          {"type", name_of(f.type)},
          {"layout", static_cast<int>(f.layout)},
          {"inner_layout", static_cast<int>(f.inner_layout)},
          {"min_align", f.min_align},
          {"interleaved", f.interleaved},
          {"scalar_rows", f.scalar_rows},
          {"offset", f.host_offset},
          {"size", f.host_size}};
}

template <class Enum>
Enum enum_from(const json& j, Enum last) {
  const int value = j.get<int>();
  if (value < 0 || value > static_cast<int>(last)) throw std::runtime_error("number out of range");
  return static_cast<Enum>(value);
}

Field field_from(const json& j) {
  Field f;
  f.name = j.at("name");
  f.kind = enum_from(j.at("kind"), FieldKind::inout);
  f.shape = enum_from(j.at("shape"), FieldShape::vector_list);
  const auto type = element_type_named(j.at("type").get<std::string>());
  if (!type) throw std::runtime_error("unknown element type");
  f.type = *type;
  f.layout = enum_from(j.at("layout"), FieldLayout::compact_delta_n);
  f.inner_layout = enum_from(j.at("inner_layout"), FieldLayout::compact_delta_n);
  f.min_align = j.at("min_align");
  f.interleaved = j.at("interleaved");
  f.scalar_rows = j.at("scalar_rows");
  f.host_offset = j.at("offset");
  f.host_size = j.at("size");
  return f;
}

json to_json(const Codelet& c) {
  json fields = json::array();
  for (const Field& f : c.fields) fields.push_back(to_json(f));
  return {{"name", c.name},
          {"kind", static_cast<int>(c.kind)},
          {"fields", fields},
          {"host_size", c.host_size},
          {"host_align", c.host_align},
          {"code_bytes", c.code_bytes},
          {"stack_bytes", c.stack_bytes},
          {"uses_tile", c.uses_tile},
          {"reserved", {c.reserved.begin, c.reserved.size, c.reserved.image}},
          {"entry", c.entry}};
}

Codelet codelet_from(const json& j) {
  Codelet c;
  c.name = j.at("name");
  c.kind = enum_from(j.at("kind"), VertexKind::supervisor);
  for (const json& f : j.at("fields")) c.fields.push_back(field_from(f));
  c.host_size = j.at("host_size");
  c.host_align = j.at("host_align");
  c.code_bytes = j.at("code_bytes");
  c.stack_bytes = j.at("stack_bytes");
  c.uses_tile = j.at("uses_tile");
  const json& reserved = j.at("reserved");
  c.reserved = {reserved.at(0), reserved.at(1), reserved.at(2)};
  c.entry = j.at("entry");
  return c;
}

json to_json(const GpDescription& d) {
  json codelets = json::array(), dependencies = json::array();
  for (const Codelet& c : d.codelets) codelets.push_back(to_json(c));
  for (const Dependency& f : d.dependencies) dependencies.push_back({f.path, f.hash});
  return {{"codelets", codelets},
          {"globals", {d.globals_size, d.globals_align}},
          {"defined", d.defined},
          {"undefined", d.undefined},
          {"libraries", d.libraries},
          {"cpu_features", d.cpu_features},
          {"dependencies", dependencies},
          {"flags", d.flags},
          {"build", d.build}};
}

GpDescription description_from(const json& j) {
  GpDescription d;
  for (const json& c : j.at("codelets")) d.codelets.push_back(codelet_from(c));
  d.globals_size = j.at("globals").at(0);
  d.globals_align = j.at("globals").at(1);
  d.defined = j.at("defined");
  d.undefined = j.at("undefined");
  d.libraries = j.at("libraries");
  d.cpu_features = j.at("cpu_features");
  for (const json& f : j.at("dependencies")) d.dependencies.push_back({f.at(0), f.at(1)});
  d.flags = j.at("flags");
  d.build = j.at("build");
  return d;
}

[[noreturn]] void refuse(const std::string& name, std::string_view id, std::string_view why) {
  fail(ErrorKind::graph_object_load_error, id, "'{}' cannot be loaded: {}", name, why);
}

}  // namespace

std::string write_gp(const GpFile& file) {
  const std::string description = to_json(file.description).dump();
  Header header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.format = kFormat;
  header.description_size = description.size();
  header.bitcode_size = file.bitcode.size();
  header.object_size = file.object.size();
  const std::string body = description + file.bitcode + file.object;
  header.checksum = checksum_of(header, body);
  return std::string(reinterpret_cast<const char*>(&header), sizeof header) + body;
}

GpFile read_gp(std::string_view bytes, const std::string& name) {
  Header header;
  if (bytes.size() < sizeof header || std::memcmp(bytes.data(), kMagic, sizeof kMagic) != 0)
    refuse(name, "gp-foreign", "it is not a codelet object file of this project");
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.format != kFormat)
    refuse(name, "gp-version", fmt::format("its format is {}, this library reads {}: compile it again", header.format, kFormat));
  const std::string_view body = bytes.substr(sizeof header);
  std::uint64_t expected = 0;
  if (__builtin_add_overflow(header.description_size, header.bitcode_size, &expected) ||
      __builtin_add_overflow(expected, header.object_size, &expected) || expected != body.size())
    refuse(name, "gp-cut-off", fmt::format("it has {} bytes after its header, expected {}", body.size(), expected));
  if (checksum_of(header, body) != header.checksum) refuse(name, "gp-corrupt", "its checksum does not match its content");
  GpFile file;
  try {
    file.description = description_from(json::parse(body.substr(0, header.description_size)));
  } catch (const std::exception& e) {
    refuse(name, "gp-description", fmt::format("its description is malformed ({})", e.what()));
  }
  file.bitcode = body.substr(header.description_size, header.bitcode_size);
  file.object = body.substr(header.description_size + header.bitcode_size);
  return file;
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
