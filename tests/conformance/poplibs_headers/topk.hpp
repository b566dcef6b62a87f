// tools/topk.cpp reads an enumeration of namespace popops with an operator that it defines outside of any namespace. Newer Boosts find
// operators in the type's namespace alone: there, one that calls the tool's. A template: where both are found, the tool's is taken.
#include <istream>
#include <type_traits>

namespace popops {
enum class SortOrder;
}

std::istream& operator>>(std::istream& in, popops::SortOrder& order);

namespace popops {
template <class Order>
typename std::enable_if<std::is_same<Order, SortOrder>::value, std::istream&>::type operator>>(std::istream& in, Order& order) {
  return ::operator>>(in, order);
}
}  // namespace popops
