#include "base/sizes.h"

#include "base/host_memory.h"

namespace pando {

std::uint64_t checked_elements(std::span<const std::size_t> shape, std::string_view what) {
  std::uint64_t elements = 1;
  bool empty = false;
  for (const std::size_t size : shape) {
    empty = empty || size == 0;
    if (size != 0) elements = saturating_mul(elements, size);
  }
  if (elements > kMostElements) {
    std::string text;
    for (const std::size_t size : shape) text += (text.empty() ? "" : ",") + std::to_string(size);
    fail(ErrorKind::tensor_creation_error, "too-many-elements", "{}: a tensor of shape {{{}}}; one has at most 2^44 elements", what, text);
  }
  return empty ? 0 : elements;
}

std::uint64_t checked_product(std::uint64_t a, std::uint64_t b, std::uint64_t most, ErrorKind kind, std::string_view what) {
  const std::uint64_t product = saturating_mul(a, b);
  if (product > most) fail(kind, "too-large", "{}: {} times {}; expected at most {}", what, a, b, most);
  return product;
}

void check_host_memory(std::uint64_t bytes, ErrorKind kind, std::string_view what) {
  const std::uint64_t memory = host_memory();
  if (bytes > memory) fail(kind, "host-memory", "{}: {} bytes; the host's memory has {}", what, bytes, memory);
}

}  // namespace pando
