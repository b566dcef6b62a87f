// Protocol buffers as bytes: a message is a list of fields, each a number and a value.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pando::onnx {

// Reads one message field by field. Rejects (value, id onnx-file) bytes that are no message.
class Message {
 public:
  explicit Message(std::string_view bytes) : bytes_(bytes) {}

  // The next field; false at the end.
  bool next();
  std::uint32_t field() const { return field_; }

  // The field's value, as what the schema says it is.
  std::int64_t integer() const;
  float real() const;
  double real64() const;
  std::string_view bytes() const;
  std::string text() const { return std::string(bytes()); }
  // Repeated numbers come one by one, or packed into one field.
  void append(std::vector<std::int64_t>& list) const;
  void append(std::vector<float>& list) const;
  void append(std::vector<double>& list) const;

 private:
  enum class Wire : std::uint8_t { varint = 0, fixed64 = 1, length = 2, fixed32 = 5 };
  std::uint64_t varint(std::size_t& at, std::string_view in) const;
  template <class T>
  T fixed(std::string_view in, std::size_t at) const;

  std::string_view bytes_, value_;
  std::size_t at_ = 0;
  std::uint32_t field_ = 0;
  Wire wire_ = Wire::varint;
  std::uint64_t number_ = 0;
};

}  // namespace pando::onnx
