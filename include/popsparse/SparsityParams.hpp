#ifndef popsparse_SparsityParams_hpp
#define popsparse_SparsityParams_hpp

#include <poplar/Export.hpp>

#include <array>
#include <cstddef>
#include <ostream>
#include <utility>

namespace popsparse {
namespace dynamic {

/// Single elements, or blocks of elements of equal shape.
enum class SparsityType { Element, Block };
POPLAR_EXPORT std::ostream& operator<<(std::ostream& os, const SparsityType& type);

/// Where elements or blocks may lie: anywhere.
enum class SparsityStructure { Unstructured };
POPLAR_EXPORT std::ostream& operator<<(std::ostream& os, const SparsityStructure& structure);

/// The kind of sparsity of a matrix. The type follows from blockDimensions {rows, columns}: {1, 1} is SparsityType::Element.
struct POPLAR_EXPORT SparsityParams {
  SparsityType type;
  SparsityStructure structure;
  std::array<std::size_t, 2> blockDimensions;

  SparsityParams(SparsityType = SparsityType::Element, SparsityStructure structure_ = SparsityStructure::Unstructured,
                 std::array<std::size_t, 2> blockDimensions_ = {{1, 1}})
      : type(blockDimensions_[0] * blockDimensions_[1] == 1 ? SparsityType::Element : SparsityType::Block),
        structure(structure_),
        blockDimensions(std::move(blockDimensions_)) {}
  SparsityParams(const SparsityParams&) = default;
  SparsityParams& operator=(const SparsityParams&) = default;

  friend POPLAR_EXPORT bool operator<(const SparsityParams& a, const SparsityParams& b);
  friend POPLAR_EXPORT bool operator==(const SparsityParams& a, const SparsityParams& b);
  friend POPLAR_EXPORT bool operator!=(const SparsityParams& a, const SparsityParams& b);
  friend POPLAR_EXPORT std::ostream& operator<<(std::ostream& os, const SparsityParams& params);
};

}  // namespace dynamic
}  // namespace popsparse

#endif
