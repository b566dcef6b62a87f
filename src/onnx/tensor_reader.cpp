#include "onnx/tensor_reader.h"

#include "ir/error.h"
#include "onnx/model.h"
#include "onnx/wire.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>

namespace pando::onnx {

using ir::DType;
using ir::ErrorClass;
using ir::HostTensor;

std::int64_t checked_elements(const std::vector<std::int64_t>& shape, const std::string& of) {
  std::int64_t n = 1;
  bool empty = false;
  for (std::int64_t d : shape) {
    if (d < 0) ir::reject(ErrorClass::value, "onnx-shape", "'{}' has the shape {}; no dimension is negative", of, ir::to_string(shape));
    empty = empty || d == 0;
  }
  for (std::int64_t d : shape) {
    if (empty) return 0;
    if (n > kMostElements / d) {
      ir::reject(ErrorClass::value, "onnx-shape", "'{}' has the shape {}; a tensor has at most {} elements", of, ir::to_string(shape),
                 kMostElements);
    }
    n *= d;
  }
  return n;
}

namespace {

struct External {
  std::string location;
  std::uint64_t offset = 0, length = 0;
  bool has_length = false;
};

std::uint64_t place_of(const std::string& key, const std::string& value) {
  std::uint64_t n = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), n);
  if (error != std::errc() || end != value.data() + value.size())
    ir::reject(ErrorClass::value, "onnx-external", "the {} of data beside the model is '{}'; a number of bytes is expected", key, value);
  return n;
}

// key, value
void external_entry(std::string_view bytes, External& e) {
  Message m(bytes);
  std::string key, value;
  while (m.next()) {
    if (m.field() == 1) key = m.text();
    if (m.field() == 2) value = m.text();
  }
  if (key == "location") e.location = value;
  if (key == "offset") e.offset = place_of(key, value);
  if (key == "length") {
    e.length = place_of(key, value);
    e.has_length = true;
  }
}

// An open file that closes itself.
struct Descriptor {
  int number;
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
};

// Where a file really lies, links resolved; empty where it does not exist or lies outside the folder.
std::filesystem::path path_inside(const std::string& directory, const std::string& location) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path folder = fs::canonical(directory.empty() ? "." : directory, error);
  if (error) return {};
  const fs::path file = fs::canonical(folder / location, error);
  if (error) return {};
  const auto [end, rest] = std::mismatch(folder.begin(), folder.end(), file.begin(), file.end());
  return end == folder.end() && rest != file.end() ? file : fs::path();
}

class TensorReader {
 public:
  explicit TensorReader(const std::string& directory) : directory_(directory) {}

  HostTensor read(std::string_view bytes) {
    Message m(bytes);
    std::vector<std::int64_t> dims;
    while (m.next()) {
      switch (m.field()) {
        case 1: m.append(dims); break;
        case 2: type_ = m.integer(); break;
        case 3: ir::reject(ErrorClass::value, "onnx-data", "a tensor in segments is not read");
        case 4: m.append(floats_); break;
        case 5:
        case 7:
        case 11: m.append(integers_); break;
        case 8: name = m.text(); break;
        case 9:
          raw_ = m.bytes();
          has_raw_ = true;
          break;
        case 10: m.append(doubles_); break;
        case 13: external_entry(m.bytes(), external_); break;
        case 14: is_external_ = m.integer() == 1; break;
        default: break;
      }
    }
    return data(dims);
  }
  std::string name;

 private:
  DType dtype() const {
    const auto t = element_type(type_);
    if (!t)
      ir::reject(ErrorClass::value, "onnx-element-type", "'{}' has the element type {}, which Pando does not have", name,
                 element_type_name(type_));
    return *t;
  }

  // Nothing is allocated before the sizes of shape and data agree.
  HostTensor data(const std::vector<std::int64_t>& dims) const {
    const DType type = dtype();
    const auto n = static_cast<std::uint64_t>(checked_elements(dims, name));
    if (is_external_) return of_bytes(type, dims, beside(n * ir::size_of(type)));
    if (has_raw_) return of_bytes(type, dims, raw_);
    const std::size_t found = std::max({floats_.size(), doubles_.size(), integers_.size()});
    if (found != n)
      ir::reject(ErrorClass::value, "onnx-data", "'{}' has {} elements of data for the shape {}", name, found, ir::to_string(dims));
    return of_numbers(type, dims);
  }

  HostTensor of_numbers(DType type, const std::vector<std::int64_t>& dims) const {
    HostTensor t(type, dims);
    // Of small floating types the integers are bits.
    const bool bits = (type == DType::float16 || ir::is_float8(type)) && !integers_.empty();
    const std::size_t size = ir::size_of(type);
    for (std::size_t i = 0; i < static_cast<std::size_t>(t.elements()); ++i) {
      const auto at = static_cast<std::int64_t>(i);
      if (bits) {
        const auto pattern = static_cast<std::uint16_t>(integers_[i]);
        std::memcpy(t.writable() + i * size, &pattern, size);
      } else if (!integers_.empty()) {
        t.set_integer(at, integers_[i]);
      } else {
        t.set(at, floats_.empty() ? doubles_[i] : static_cast<double>(floats_[i]));
      }
    }
    return t;
  }

  std::string beside(std::uint64_t size) const {
    if (external_.has_length && external_.length != size)
      ir::reject(ErrorClass::value, "onnx-data", "'{}' has {} bytes of data, {} are its shape's", name, external_.length, size);
    return bytes_beside(directory_, external_.location, external_.offset, size, name);
  }

  HostTensor of_bytes(DType type, const std::vector<std::int64_t>& dims, std::string_view bytes) const {
    const std::uint64_t size = static_cast<std::uint64_t>(ir::elements_of(dims)) * ir::size_of(type);
    if (bytes.size() != size)
      ir::reject(ErrorClass::value, "onnx-data", "'{}' has {} bytes of data, {} are its shape's", name, bytes.size(), size);
    HostTensor t(type, dims);
    if (!bytes.empty()) std::memcpy(t.writable(), bytes.data(), bytes.size());
    // Any byte but 0 is true.
    if (type == DType::boolean) std::for_each_n(t.writable(), bytes.size(), [](std::byte& b) { b = std::byte{b != std::byte{0}}; });
    return t;
  }

  const std::string& directory_;
  std::int64_t type_ = 0;
  std::vector<float> floats_;
  std::vector<double> doubles_;
  std::vector<std::int64_t> integers_;
  std::string_view raw_;
  bool has_raw_ = false, is_external_ = false;
  External external_;
};

// The row-major position that one row of indices names, or the index itself.
std::int64_t sparse_position(const HostTensor& indices, std::int64_t i, const std::vector<std::int64_t>& dims, const std::string& name) {
  const bool flat = indices.shape().size() == 1;
  const auto rank = static_cast<std::int64_t>(dims.size());
  std::int64_t at = 0;
  bool inside = true;
  for (std::int64_t d = 0; d < (flat ? 1 : rank); ++d) {
    const std::int64_t index = indices.integer(flat ? i : i * rank + d);
    const std::int64_t extent = flat ? ir::elements_of(dims) : dims[static_cast<std::size_t>(d)];
    inside = inside && index >= 0 && index < extent;
    at = at * extent + index;
    if (!inside) ir::reject(ErrorClass::value, "onnx-data", "sparse '{}' has an index of {} for an extent of {}", name, index, extent);
  }
  return at;
}

}  // namespace

std::pair<std::string, HostTensor> read_tensor(std::string_view bytes, const std::string& directory) {
  TensorReader reader(directory);
  HostTensor t = reader.read(bytes);
  return {reader.name, std::move(t)};
}

std::pair<std::string, HostTensor> read_sparse_tensor(std::string_view bytes, const std::string& directory) {
  Message m(bytes);
  std::pair<std::string, HostTensor> values, indices;
  std::vector<std::int64_t> dims;
  while (m.next()) {
    if (m.field() == 1) values = read_tensor(m.bytes(), directory);
    if (m.field() == 2) indices = read_tensor(m.bytes(), directory);
    if (m.field() == 3) m.append(dims);
  }
  const auto& [name, data] = values;
  checked_elements(dims, name);
  const auto n = static_cast<std::int64_t>(data.elements()), rank = static_cast<std::int64_t>(dims.size());
  const ir::Shape& shape = indices.second.shape();
  if (data.shape().size() != 1 || (shape != ir::Shape{n} && shape != ir::Shape{n, rank}) || indices.second.dtype() != DType::int64)
    ir::reject(ErrorClass::value, "onnx-data", "sparse '{}' has {} values and indices of shape {}", name, n, ir::to_string(shape));
  HostTensor dense(data.dtype(), dims);
  const std::size_t size = ir::size_of(data.dtype());
  for (std::int64_t i = 0; i < n; ++i) {
    const auto at = static_cast<std::size_t>(sparse_position(indices.second, i, dims, name));
    std::memcpy(dense.writable() + at * size, data.data() + static_cast<std::size_t>(i) * size, size);
  }
  return {name, std::move(dense)};
}

std::string bytes_beside(const std::string& directory, const std::string& location, std::uint64_t offset, std::uint64_t size,
                         const std::string& of) {
  const std::filesystem::path path = location.empty() ? std::filesystem::path() : path_inside(directory, location);
  if (path.empty())
    ir::reject(ErrorClass::value, "onnx-external", "data of '{}' lie at '{}'; a file in the model's folder is expected", of, location);
  // A pipe would make who opens it wait.
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)};
  struct stat status{};
  if (file.number < 0 || ::fstat(file.number, &status) != 0)
    ir::reject(ErrorClass::value, "onnx-external", "data of '{}' cannot be read from '{}'", of, location);
  if (!S_ISREG(status.st_mode))
    ir::reject(ErrorClass::value, "onnx-external", "data of '{}' lie at '{}', which is not a regular file", of, location);
  const auto length = static_cast<std::uint64_t>(status.st_size);
  if (offset > length || size > length - offset)
    ir::reject(ErrorClass::value, "onnx-external", "data of '{}' are bytes {} to {} of '{}', which has {}", of, offset, offset + size,
               location, length);
  std::string bytes(size, '\0');
  for (std::uint64_t done = 0; done < size;) {
    const ::ssize_t n = ::pread(file.number, bytes.data() + done, size - done, static_cast<::off_t>(offset + done));
    if (n <= 0) ir::reject(ErrorClass::value, "onnx-external", "data of '{}' cannot be read from '{}'", of, location);
    done += static_cast<std::uint64_t>(n);
  }
  return bytes;
}

}  // namespace pando::onnx
