// Binary writing and reading of values: scalars, enums, ids, strings, vectors, pairs, optionals, and structs that list their
// fields. One field list serves both directions:
//
//   template <class A> void fields(A& a, Point& p) { a(p.x, p.y); }      // found by argument-dependent lookup
//
// Numbers are little-endian, sizes 64 bits. Vectors of values without padding are copied in bulk. No bytes of padding are ever
// written: equal values give equal bytes. A reader never reads past its end: `ok()` turns false and stays false, and what is
// read from then on is empty.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace pando {

static_assert(std::endian::native == std::endian::little, "archives are little-endian");

// Values whose bytes are their value: no padding, no pointers. `bool` is excluded: a byte other than 0 or 1 is no bool.
template <class T>
inline constexpr bool kIsBulk = std::is_trivially_copyable_v<T> && !std::is_pointer_v<T> && !std::is_same_v<T, bool> &&
                                (std::is_floating_point_v<T> || std::has_unique_object_representations_v<T>);

class ArchiveWriter {
 public:
  template <class... T>
  void operator()(const T&... values) {
    (put(values), ...);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  void raw(const void* data, std::size_t n) {
    if (n > 0) bytes_.append(static_cast<const char*>(data), n);
  }
  void put_size(std::size_t n) { put(static_cast<std::uint64_t>(n)); }
  void put(const std::string& s) {
    put_size(s.size());
    raw(s.data(), s.size());
  }
  template <class A, class B>
  void put(const std::pair<A, B>& p) {
    put(p.first);
    put(p.second);
  }
  template <class T>
  void put(const std::optional<T>& v) {
    put(v.has_value());
    if (v) put(*v);
  }
  template <class T>
  void put(const std::vector<T>& v) {
    put_size(v.size());
    if constexpr (kIsBulk<T>) {
      raw(v.data(), v.size() * sizeof(T));
    } else {
      for (const T& item : v) put(item);
    }
  }
  template <class T>
  void put(const T& v) {
    if constexpr (std::is_same_v<T, bool>) {
      put(static_cast<std::uint8_t>(v));
    } else if constexpr (kIsBulk<T>) {
      raw(&v, sizeof(T));
    } else {
      fields(*this, const_cast<T&>(v));  // a writer only reads the fields
    }
  }

  std::string bytes_;
};

class ArchiveReader {
 public:
  explicit ArchiveReader(std::string_view bytes) : bytes_(bytes) {}

  template <class... T>
  void operator()(T&... values) {
    (get(values), ...);
  }
  bool ok() const { return ok_; }
  // All was read and nothing is left.
  bool complete() const { return ok_ && at_ == bytes_.size(); }

 private:
  bool raw(void* data, std::size_t n) {
    if (!ok_ || n > bytes_.size() - at_) return ok_ = false;
    if (n > 0) std::memcpy(data, bytes_.data() + at_, n);
    at_ += n;
    return true;
  }
  // A count of items of at least `item_bytes` bytes each; 0 if the rest cannot hold them.
  std::size_t size(std::size_t item_bytes) {
    std::uint64_t n = 0;
    if (!raw(&n, sizeof n)) return 0;
    if (n > (bytes_.size() - at_) / item_bytes) ok_ = false;
    return ok_ ? static_cast<std::size_t>(n) : 0;
  }
  void get(std::string& s) {
    const std::size_t n = size(1);
    s.assign(bytes_.data() + at_, n);
    at_ += n;
  }
  template <class A, class B>
  void get(std::pair<A, B>& p) {
    get(p.first);
    get(p.second);
  }
  template <class T>
  void get(std::optional<T>& v) {
    bool has = false;
    get(has);
    v.reset();
    if (has && ok_) get(v.emplace());
  }
  template <class T>
  void get(std::vector<T>& v) {
    if constexpr (kIsBulk<T>) {
      v.resize(size(sizeof(T)));
      raw(v.data(), v.size() * sizeof(T));
    } else {
      v.clear();
      v.resize(size(1));
      for (T& item : v) {
        if (!ok_) break;
        get(item);
      }
    }
  }
  template <class T>
  void get(T& v) {
    if constexpr (std::is_same_v<T, bool>) {
      std::uint8_t byte = 0;
      raw(&byte, 1);
      v = byte != 0;
      if (byte > 1) ok_ = false;
    } else if constexpr (kIsBulk<T>) {
      if (!raw(&v, sizeof(T))) v = T();
    } else {
      fields(*this, v);
    }
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
  bool ok_ = true;
};

// A 64-bit checksum, for files: fast, and any flipped bit changes it. Not for keys that an enemy chooses.
inline std::uint64_t checksum(std::string_view bytes) {
  constexpr std::uint64_t kPrime = 0x9E3779B97F4A7C15ull;
  std::uint64_t lanes[4] = {1, 2, 3, 4};
  std::size_t at = 0;
  for (; at + 32 <= bytes.size(); at += 32) {
    std::uint64_t words[4];
    std::memcpy(words, bytes.data() + at, 32);
    for (int i = 0; i < 4; ++i) lanes[i] = std::rotl((lanes[i] ^ words[i]) * kPrime, 29);
  }
  std::uint64_t sum = bytes.size();
  for (const std::uint64_t lane : lanes) sum = std::rotl((sum ^ lane) * kPrime, 29);
  for (; at < bytes.size(); ++at) sum = std::rotl((sum ^ static_cast<unsigned char>(bytes[at])) * kPrime, 29);
  return sum ^ (sum >> 32);
}

}  // namespace pando
