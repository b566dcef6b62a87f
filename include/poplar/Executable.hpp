#ifndef poplar_Executable_hpp
#define poplar_Executable_hpp

#include <poplar/Export.hpp>

#include <istream>
#include <memory>
#include <ostream>

namespace poplar {

namespace core {
struct ExecutableState;
}

/// A compiled program: what an Engine loads onto a device. Can be moved, not copied.
class POPLAR_EXPORT Executable {
 public:
  Executable();
  ~Executable();
  Executable(Executable&&) noexcept;
  Executable& operator=(Executable&&) noexcept;
  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;

  /// Writes everything that another process needs to run the program: neither a compiler nor the graph.
  void serialize(std::ostream& out) const;
  /// Throws graph_object_load_error if the data are corrupt, foreign or, with `checkPackageHash`, of another version.
  static Executable deserialize(std::istream& in, bool checkPackageHash = true);
  static Executable deserialize(std::unique_ptr<std::istream> in, bool checkPackageHash = true);

 private:
  friend struct pando::facade::Access;
  std::unique_ptr<core::ExecutableState> state_;
};

}  // namespace poplar

#endif
