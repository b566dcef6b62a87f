// Tensors in a model's file, and data beside it.
#pragma once

#include "ir/host_tensor.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pando::onnx {

// More elements than this no tensor has: sizes that multiply to more are an error, not an overflow.
inline constexpr std::int64_t kMostElements = std::int64_t{1} << 40;

// The number of elements. Rejects (value) negative dimensions and more elements than kMostElements; `of` is what the message names.
std::int64_t checked_elements(const std::vector<std::int64_t>& shape, const std::string& of);

// A tensor with its name. Rejects (value, ids onnx-data, onnx-element-type, onnx-external).
std::pair<std::string, ir::HostTensor> read_tensor(std::string_view bytes, const std::string& directory);
// A sparse tensor, as a dense one. Its positions are checked.
std::pair<std::string, ir::HostTensor> read_sparse_tensor(std::string_view bytes, const std::string& directory);

// Bytes of a regular file below a folder: `size` of them from `offset` on. Rejects (value) paths that leave the folder, also through links,
// what is no regular file, and files that are too short. `of`: whose data they are.
std::string bytes_beside(const std::string& directory, const std::string& location, std::uint64_t offset, std::uint64_t size,
                         const std::string& of);

}  // namespace pando::onnx
