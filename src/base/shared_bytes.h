// Bytes that several owners hold without copying: the content of a codelet file in graphs, programs and executables.
#pragma once

#include <memory>
#include <string>
#include <utility>

namespace pando {

class SharedBytes {
 public:
  SharedBytes() : SharedBytes(std::string()) {}
  SharedBytes(std::string bytes) : bytes_(std::make_shared<const std::string>(std::move(bytes))) {}

  const std::string& get() const { return *bytes_; }
  bool empty() const { return bytes_->empty(); }

 private:
  std::shared_ptr<const std::string> bytes_;
};

template <class A>
void fields(A& archive, SharedBytes& shared) {
  std::string bytes = shared.get();
  archive(bytes);
  shared = std::move(bytes);
}

}  // namespace pando
