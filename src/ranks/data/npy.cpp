#include "ranks/data/npy.h"

#include "base/error.h"
#include "base/files/output_file.h"
#include "ir/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace pando::ranks {

using namespace ir;

namespace {

struct TypeName {
  DType dtype;
  const char* descr;
};
constexpr TypeName kTypes[] = {{DType::float16, "<f2"}, {DType::float32, "<f4"}, {DType::float64, "<f8"}, {DType::int8, "|i1"},
                               {DType::int16, "<i2"},   {DType::int32, "<i4"},   {DType::int64, "<i8"},   {DType::uint8, "|u1"},
                               {DType::uint16, "<u2"},  {DType::uint32, "<u4"},  {DType::uint64, "<u8"},  {DType::boolean, "|b1"}};

[[noreturn]] void bad(const std::string& what, std::string_view why) { reject(ErrorClass::value, "array-file", "{}: {}", what, why); }

std::string npy_of(const HostTensor& t) {
  const char* descr = "|u1";  // what NumPy has no type for goes as its bytes
  for (const TypeName& n : kTypes) {
    if (n.dtype == t.dtype()) descr = n.descr;
  }
  std::string shape;
  for (std::int64_t d : t.shape()) shape += fmt::format("{}, ", d);
  if (t.shape().size() > 1) shape.resize(shape.size() - 2);
  if (t.shape().size() == 1) shape.resize(shape.size() - 1);
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", descr, shape);
  while ((header.size() + 11) % 64 != 0) header += ' ';
  header += '\n';
  std::string out("\x93NUMPY\x01\x00", 8);
  out += static_cast<char>(header.size() & 0xff);
  out += static_cast<char>(header.size() >> 8);
  out += header;
  out.append(reinterpret_cast<const char*>(t.data()), t.size_bytes());
  return out;
}

// The text behind 'KEY': of the header's dictionary.
std::string_view value_of(std::string_view header, std::string_view key, const std::string& what) {
  const std::size_t at = header.find(fmt::format("'{}':", key));
  if (at == std::string_view::npos) bad(what, fmt::format("its header has no '{}'", key));
  return header.substr(header.find_first_not_of(' ', at + key.size() + 3));
}

struct Header {
  DType dtype = DType::float32;
  Shape shape;
  std::size_t size = 0;  // the data follow
};

// `bytes`: the array's, or those at its beginning; `total`: of all of it.
Header parse_header(std::string_view bytes, std::uint64_t total, const std::string& what) {
  if (bytes.size() < 12 || bytes.substr(0, 6) != "\x93NUMPY") bad(what, "no array of NumPy");
  const bool wide = bytes[6] > 1;
  std::size_t length = 0;
  for (int i = 0; i < (wide ? 4 : 2); ++i)
    length |= static_cast<std::size_t>(static_cast<unsigned char>(bytes[8 + static_cast<std::size_t>(i)])) << (8 * i);
  const std::size_t begin = wide ? 12 : 10;
  if (begin + length > bytes.size()) bad(what, "it is cut off");
  const std::string_view header = bytes.substr(begin, length);
  if (value_of(header, "fortran_order", what).starts_with("True"))
    bad(what, "an array in Fortran order; numpy.ascontiguousarray gives the other one");
  const std::string_view descr = value_of(header, "descr", what);
  const std::size_t close = descr.find('\'', 1);
  if (!descr.starts_with('\'') || close == std::string_view::npos) bad(what, "an array of records");
  const std::string_view type = descr.substr(1, close - 1);
  const TypeName* found = nullptr;
  for (const TypeName& n : kTypes) {
    if (type == n.descr) found = &n;
  }
  if (!found) bad(what, fmt::format("elements of type '{}'", type));
  Shape shape;
  std::string_view text = value_of(header, "shape", what);
  const std::size_t end = text.find(')');
  for (std::size_t at = 1; at < end;) {
    at = text.find_first_of("0123456789", at);
    if (at == std::string_view::npos || at > end) break;
    std::int64_t n = 0;
    at = static_cast<std::size_t>(std::from_chars(text.data() + at, text.data() + end, n).ptr - text.data());
    shape.push_back(n);
  }
  std::int64_t elements = 1;
  for (std::int64_t n : shape) {
    if (__builtin_mul_overflow(elements, n, &elements)) bad(what, "its shape has too many elements");
  }
  const std::uint64_t data = total - begin - length;
  if (data / size_of(found->dtype) < static_cast<std::uint64_t>(elements)) {
    bad(what, fmt::format("{} bytes of data; its shape needs {} elements of {}", data, elements, size_of(found->dtype)));
  }
  return {found->dtype, std::move(shape), begin + length};
}

HostTensor parse_npy(std::string_view bytes, const std::string& what) {
  const Header h = parse_header(bytes, bytes.size(), what);
  HostTensor t(h.dtype, h.shape);
  std::memcpy(t.writable(), bytes.data() + h.size, t.size_bytes());
  return t;
}

// No header of an array is longer.
constexpr std::uint64_t kLongestHeader = 1 << 16;

std::uint64_t size_of_file(const std::string& file) {
  // Of others a size is no number of bytes: a folder's is the greatest there is.
  if (std::error_code none; std::filesystem::exists(file, none) && !std::filesystem::is_regular_file(file, none))
    fail(ErrorKind::file_load_error, "unreadable-file", "cannot read {}: it is {}; arrays are read from files", file,
         std::filesystem::is_directory(file, none) ? "a folder" : "no regular file");
  std::ifstream in(file, std::ios::binary | std::ios::ate);
  if (!in) fail(ErrorKind::file_load_error, "unreadable-file", "cannot read {}", file);
  return static_cast<std::uint64_t>(in.tellg());
}

std::string read_bytes(const std::string& file, std::uint64_t begin, std::uint64_t size) {
  if (const std::uint64_t all = size_of_file(file); begin > all || size > all - begin) bad(file, "it is cut off");
  std::ifstream in(file, std::ios::binary);
  std::string bytes(size, '\0');
  in.seekg(static_cast<std::streamoff>(begin));
  if (!in.read(bytes.data(), static_cast<std::streamsize>(size)))
    fail(ErrorKind::file_load_error, "unreadable-file", "cannot read {}", file);
  return bytes;
}
// --- ZIP: stored members only
template <class T>
T number(std::string_view bytes, std::size_t at) {
  T v{};
  if (at + sizeof v <= bytes.size()) std::memcpy(&v, bytes.data() + at, sizeof v);
  return v;
}
template <class T>
void put(std::string& out, T v) {
  out.append(reinterpret_cast<const char*>(&v), sizeof v);
}

std::uint32_t crc32(std::string_view bytes) {
  static const auto table = [] {
    std::array<std::uint32_t, 256> t{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t c = i;
      for (int k = 0; k < 8; ++k) c = (c >> 1) ^ ((c & 1) ? 0xEDB88320u : 0);
      t[i] = c;
    }
    return t;
  }();
  std::uint32_t crc = ~0u;
  for (char b : bytes) crc = table[(crc ^ static_cast<unsigned char>(b)) & 0xff] ^ (crc >> 8);
  return ~crc;
}

constexpr std::uint32_t kLocal = 0x04034b50, kCentral = 0x02014b50, kEnd = 0x06054b50, kEnd64 = 0x06064b50, kLocator64 = 0x07064b50;
constexpr std::uint32_t kIn64 = 0xffffffff;
constexpr std::uint16_t kVersion = 45;

}  // namespace

HostTensor read_npy(const std::string& file) { return parse_npy(read_bytes(file, 0, size_of_file(file)), file); }
Shape shape_of_npy(const std::string& file) {
  const std::uint64_t size = size_of_file(file);
  return parse_header(read_bytes(file, 0, std::min(size, kLongestHeader)), size, file).shape;
}

std::string fingerprint_of_npy(const std::string& file) {
  constexpr std::uint64_t kWhole = std::uint64_t{64} << 20, kStride = std::uint64_t{1} << 20, kPart = 4096;
  const std::uint64_t size = size_of_file(file);
  if (size <= kWhole) return fmt::format("{} {:08x}", size, crc32(read_bytes(file, 0, size)));
  std::string parts = read_bytes(file, size - kPart, kPart);
  for (std::uint64_t at = 0; at + kPart <= size; at += kStride) parts += read_bytes(file, at, kPart);
  return fmt::format("{} {:08x}", size, crc32(parts));
}

NpzReader::NpzReader(const std::string& file) : file_(file) {
  const std::uint64_t size = size_of_file(file), tail_size = std::min<std::uint64_t>(size, 65536 + 64);
  const std::string tail = read_bytes(file, size - tail_size, tail_size);
  const std::size_t end = tail.rfind(std::string("PK\x05\x06", 4));
  if (end == std::string::npos) bad(file, "no ZIP archive");
  std::uint64_t count = number<std::uint16_t>(tail, end + 10), length = number<std::uint32_t>(tail, end + 12),
                begin = number<std::uint32_t>(tail, end + 16);
  if (const std::size_t e64 = tail.rfind(std::string("PK\x06\x06", 4)); e64 != std::string::npos) {
    count = number<std::uint64_t>(tail, e64 + 32);
    length = number<std::uint64_t>(tail, e64 + 40);
    begin = number<std::uint64_t>(tail, e64 + 48);
  }
  if (begin > size || length > size - begin) bad(file, "a broken ZIP archive");
  const std::string directory = read_bytes(file, begin, length);
  std::size_t at = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (at + 46 > directory.size() || number<std::uint32_t>(directory, at) != kCentral) bad(file, "a broken ZIP archive");
    const auto method = number<std::uint16_t>(directory, at + 10);
    std::uint64_t bytes = number<std::uint32_t>(directory, at + 24), offset = number<std::uint32_t>(directory, at + 42);
    const std::size_t name_size = number<std::uint16_t>(directory, at + 28), extra_size = number<std::uint16_t>(directory, at + 30);
    std::string name = directory.substr(at + 46, name_size);
    for (std::size_t x = at + 46 + name_size; x + 4 <= at + 46 + name_size + extra_size; x += 4 + number<std::uint16_t>(directory, x + 2)) {
      if (number<std::uint16_t>(directory, x) != 1) continue;
      std::size_t field = x + 4;
      if (bytes == kIn64) {
        bytes = number<std::uint64_t>(directory, field);
        field += 8;
      }
      if (number<std::uint32_t>(directory, at + 20) == kIn64) field += 8;
      if (offset == kIn64) offset = number<std::uint64_t>(directory, field);
    }
    if (method != 0) bad(file, fmt::format("'{}' is compressed; numpy.savez does not compress", name));
    const Member member{offset, bytes, number<std::uint32_t>(directory, at + 16), name};
    if (name.ends_with(".npy")) name.resize(name.size() - 4);
    if (!members_.emplace(name, member).second) bad(file, fmt::format("a broken ZIP archive: it has '{}' twice", name));
    at += 46 + name_size + extra_size + number<std::uint16_t>(directory, at + 32);
  }
  if (at != length) bad(file, "a broken ZIP archive: its directory has more than its members");
}

std::string NpzReader::fingerprint() const {
  std::string text;
  for (const auto& [name, member] : members_) text += fmt::format("{} {} {:08x}\n", name, member.size, member.checksum);
  return text;
}

std::set<std::string> NpzReader::names() const {
  std::set<std::string> all;
  for (const auto& [name, place] : members_) all.insert(name);
  return all;
}

std::uint64_t NpzReader::data_of(const Member& member) const {
  const std::string header = read_bytes(file_, member.header, 30);
  const std::uint64_t name_size = number<std::uint16_t>(header, 26);
  const bool fits = number<std::uint32_t>(header, 0) == kLocal && read_bytes(file_, member.header + 30, name_size) == member.file;
  if (!fits) bad(file_, fmt::format("a broken ZIP archive: '{}' is not where its directory says", member.file));
  return member.header + 30 + name_size + number<std::uint16_t>(header, 28);
}

HostTensor NpzReader::read(const std::string& name) const {
  const Member& member = members_.at(name);
  const std::string bytes = read_bytes(file_, data_of(member), member.size), what = file_ + ": " + name;
  if (crc32(bytes) != member.checksum) bad(what, "it is damaged: its bytes do not fit its checksum");
  return parse_npy(bytes, what);
}
Shape NpzReader::shape_of(const std::string& name) const {
  const Member& member = members_.at(name);
  return parse_header(read_bytes(file_, data_of(member), std::min(member.size, kLongestHeader)), member.size, file_ + ": " + name).shape;
}

namespace {

// One that is written.
struct Member {
  std::string name;
  std::uint32_t crc = 0;
  std::uint64_t size = 0, at = 0;
};

// What a member's local header and its entry in the directory have in common. Sizes are in an extra field of 64 bits.
void put_member(std::string& out, const Member& m, std::uint16_t extra) {
  put<std::uint16_t>(out, kVersion);
  put<std::uint16_t>(out, 0x800);  // names are UTF-8
  put<std::uint16_t>(out, 0);
  put<std::uint32_t>(out, 0x00210000);  // 1 January 1980
  put(out, m.crc);
  put(out, kIn64);
  put(out, kIn64);
  put(out, static_cast<std::uint16_t>(m.name.size()));
  put(out, extra);
}
void put_sizes(std::string& out, const Member& m, std::uint16_t extra) {
  put<std::uint16_t>(out, 1);
  put<std::uint16_t>(out, static_cast<std::uint16_t>(extra - 4));
  put(out, m.size);
  put(out, m.size);
}

std::string local_header(const Member& m) {
  std::string out;
  put(out, kLocal);
  put_member(out, m, 20);
  out += m.name;
  put_sizes(out, m, 20);
  return out;
}

void put_entry(std::string& out, const Member& m) {
  put(out, kCentral);
  put<std::uint16_t>(out, kVersion);
  put_member(out, m, 28);
  put<std::uint16_t>(out, 0);
  put<std::uint32_t>(out, 0);
  put<std::uint32_t>(out, 0);
  put(out, kIn64);
  out += m.name;
  put_sizes(out, m, 28);
  put(out, m.at);
}

std::string end_of(std::uint64_t members, std::uint64_t directory_size, std::uint64_t directory_at) {
  std::string out;
  put(out, kEnd64);
  put<std::uint64_t>(out, 44);
  put<std::uint16_t>(out, kVersion);
  put<std::uint16_t>(out, kVersion);
  put<std::uint64_t>(out, 0);
  put(out, members);
  put(out, members);
  put(out, directory_size);
  put(out, directory_at);
  put(out, kLocator64);
  put<std::uint32_t>(out, 0);
  put(out, directory_at + directory_size);
  put<std::uint32_t>(out, 1);
  put(out, kEnd);
  put<std::uint32_t>(out, 0);
  put<std::uint16_t>(out, 0xffff);
  put<std::uint16_t>(out, 0xffff);
  put(out, kIn64);
  put(out, kIn64);
  put<std::uint16_t>(out, 0);
  return out;
}

}  // namespace

void write_npz(const std::string& file, const std::vector<std::pair<std::string, HostTensor>>& arrays) {
  OutputFile output(file);
  std::ofstream out(output.place(), std::ios::binary);
  std::string directory;
  std::uint64_t at = 0;
  for (const auto& [name, tensor] : arrays) {
    const std::string bytes = npy_of(tensor);
    const Member m{name + ".npy", crc32(bytes), bytes.size(), at};
    const std::string local = local_header(m);
    out << local << bytes;
    at += local.size() + bytes.size();
    put_entry(directory, m);
  }
  out << directory << end_of(arrays.size(), directory.size(), at);
  out.close();
  const std::string why = out ? output.keep() : std::strerror(errno);
  if (!why.empty()) fail(ErrorKind::poplar_error, "unwritable-file", "cannot write {}: {}", file, why);
}

}  // namespace pando::ranks
