// A list of millions that grows without moving what it has.
#pragma once

#include <cstddef>
#include <vector>

namespace pando::compile {

template <class T>
class Chunks {
 public:
  void push_back(const T& value) {
    if (size_ % kChunk == 0) {
      chunks_.emplace_back();
      chunks_.back().reserve(kChunk);
    }
    chunks_.back().push_back(value);
    ++size_;
  }
  T& operator[](std::size_t i) { return chunks_[i / kChunk][i % kChunk]; }
  const T& operator[](std::size_t i) const { return chunks_[i / kChunk][i % kChunk]; }
  std::size_t size() const { return size_; }

 private:
  static constexpr std::size_t kChunk = 1024;  // small enough for the heap: larger blocks come from the system, page by page

  std::vector<std::vector<T>> chunks_;
  std::size_t size_ = 0;
};

}  // namespace pando::compile
