// Long tables in an executable: rows of 32-bit words, most of which are what they were in the row before, or little more.
//
//     row   := mask changed...      mask: 16 bits, one for each word of the row that changed
//     changed := difference to the word above, modulo 2^32, small ones of either sign first (0, -1, 1, -2 ...), 7 bits a byte, the last
//     without the top bit
//
// A move of 48 bytes takes about 11: a layer's weights are thousands of them, and those of different layers differ in little but their
// numbers.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pando::tile {

// How a row is words: a specialisation has kCount, to(row), from(words, row); from returns false for words that no row has.
template <class Row>
struct RowWords {
  static constexpr std::size_t kCount = sizeof(Row) / 4;
  using Words = std::array<std::uint32_t, kCount>;
  static Words to(const Row& row) { return std::bit_cast<Words>(row); }
  static bool from(const Words& words, Row& row) {
    row = std::bit_cast<Row>(words);
    return true;
  }
};

template <class Row>
std::string pack(const std::vector<Row>& rows) {
  constexpr std::size_t n = RowWords<Row>::kCount;
  static_assert(n <= 16);
  std::string out;
  std::array<std::uint32_t, n> last{};
  for (const Row& row : rows) {
    const std::array<std::uint32_t, n> now = RowWords<Row>::to(row);
    std::array<char, 2 + 5 * n> bytes;
    std::size_t at = 2;
    std::uint32_t mask = 0;
    for (std::size_t w = 0; w < n; ++w) {
      const std::uint32_t difference = now[w] - last[w];
      if (difference == 0) continue;
      mask |= 1u << w;
      std::uint32_t code = difference << 1 ^ (0 - (difference >> 31));
      for (; code >= 128; code >>= 7) bytes[at++] = static_cast<char>(code | 128);
      bytes[at++] = static_cast<char>(code);
    }
    bytes[0] = static_cast<char>(mask);
    bytes[1] = static_cast<char>(mask >> 8);
    out.append(bytes.data(), at);
    last = now;
  }
  return out;
}

// False for bytes that are no table.
template <class Row>
bool unpack(std::string_view bytes, std::vector<Row>& rows) {
  constexpr std::size_t n = RowWords<Row>::kCount;
  rows.clear();
  std::array<std::uint32_t, n> words{};
  for (std::size_t at = 0; at < bytes.size();) {
    if (bytes.size() - at < 2) return false;
    const std::uint32_t mask = static_cast<unsigned char>(bytes[at]) | static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[at + 1]))
                                                                           << 8;
    if (mask >> n != 0) return false;
    at += 2;
    for (std::uint32_t left = mask; left != 0; left &= left - 1) {
      std::uint32_t code = 0;
      for (unsigned shift = 0;; shift += 7) {
        if (at == bytes.size() || shift > 28) return false;
        const std::uint32_t byte = static_cast<unsigned char>(bytes[at++]);
        code |= (byte & 127) << shift;
        if (byte < 128) break;
      }
      words[static_cast<std::size_t>(std::countr_zero(left))] += code >> 1 ^ (0 - (code & 1));
    }
    Row row{};
    if (!RowWords<Row>::from(words, row)) return false;
    rows.push_back(row);
  }
  return true;
}

}  // namespace pando::tile
