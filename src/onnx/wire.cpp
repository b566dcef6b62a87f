#include "onnx/wire.h"

#include "ir/error.h"

#include <bit>
#include <cstring>

namespace pando::onnx {

namespace {

[[noreturn]] void broken(const char* what) { ir::reject(ir::ErrorClass::value, "onnx-file", "this is not an ONNX file: {}", what); }

}  // namespace

std::uint64_t Message::varint(std::size_t& at, std::string_view in) const {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (at >= in.size()) broken("a number ends in the middle");
    const auto byte = static_cast<std::uint8_t>(in[at++]);
    value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (!(byte & 0x80)) return value;
  }
  broken("a number of more than 64 bits");
}

template <class T>
T Message::fixed(std::string_view in, std::size_t at) const {
  static_assert(std::endian::native == std::endian::little);
  if (in.size() - at < sizeof(T)) broken("a field ends in the middle");
  T value;
  std::memcpy(&value, in.data() + at, sizeof value);
  return value;
}

bool Message::next() {
  if (at_ >= bytes_.size()) return false;
  const std::uint64_t tag = varint(at_, bytes_);
  field_ = static_cast<std::uint32_t>(tag >> 3);
  wire_ = static_cast<Wire>(tag & 7);
  if (field_ == 0) broken("a field without a number");
  std::uint64_t size = 0;
  switch (wire_) {
    case Wire::varint: number_ = varint(at_, bytes_); return true;
    case Wire::fixed64: size = 8; break;
    case Wire::fixed32: size = 4; break;
    case Wire::length: size = varint(at_, bytes_); break;
    default: broken("a field of an unknown kind");
  }
  if (size > bytes_.size() - at_) broken("a field ends in the middle");
  value_ = bytes_.substr(at_, size);
  at_ += size;
  return true;
}

std::int64_t Message::integer() const {
  if (wire_ != Wire::varint) broken("an integer is expected");
  return static_cast<std::int64_t>(number_);
}
float Message::real() const {
  if (wire_ != Wire::fixed32) broken("a float is expected");
  return fixed<float>(value_, 0);
}
double Message::real64() const {
  if (wire_ != Wire::fixed64) broken("a double is expected");
  return fixed<double>(value_, 0);
}
std::string_view Message::bytes() const {
  if (wire_ != Wire::length) broken("bytes are expected");
  return value_;
}

void Message::append(std::vector<std::int64_t>& list) const {
  if (wire_ == Wire::varint) {
    list.push_back(static_cast<std::int64_t>(number_));
    return;
  }
  std::size_t at = 0;
  while (at < bytes().size()) list.push_back(static_cast<std::int64_t>(varint(at, value_)));
}
void Message::append(std::vector<float>& list) const {
  if (wire_ == Wire::fixed32) {
    list.push_back(real());
    return;
  }
  for (std::size_t at = 0; at < bytes().size(); at += 4) list.push_back(fixed<float>(value_, at));
}
void Message::append(std::vector<double>& list) const {
  if (wire_ == Wire::fixed64) {
    list.push_back(real64());
    return;
  }
  for (std::size_t at = 0; at < bytes().size(); at += 8) list.push_back(fixed<double>(value_, at));
}

}  // namespace pando::onnx
