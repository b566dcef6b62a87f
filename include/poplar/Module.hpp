#ifndef poplar_Module_hpp
#define poplar_Module_hpp

#include <poplar/Export.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <ostream>

namespace poplar {

namespace core {
struct ExecutableState;
}

/// A program that a runtime on the tiles of an IPU would jump to: what compileModule() makes. Can be moved, not copied.
///
/// Its contents are images of the memory of IPU tiles. Here codelets are code of the host, whatever the target: a module proves that the
/// graph compiles, and everything that would give an image throws poplar_error, as it does for CPU and IPU-model targets elsewhere.
class POPLAR_EXPORT Module {
 public:
  Module();
  ~Module();
  Module(Module&&) noexcept;
  Module& operator=(Module&&) noexcept;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  void serialize(std::ostream& out) const;
  void forEachSegment(
      std::function<void(std::size_t tile, std::size_t address, std::size_t fileSize, std::size_t memorySize, const char* data)> f) const;
  /// Without empty segments.
  void forEachLoadableSegment(std::function<void(std::size_t tile, std::size_t address, std::size_t size, const char* data)> f) const;

 private:
  friend struct pando::facade::Access;
  std::unique_ptr<core::ExecutableState> state_;
};

}  // namespace poplar

#endif
