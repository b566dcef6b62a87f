// Comparison of structures, member by member.
#ifndef gccs_StructHelper_hpp
#define gccs_StructHelper_hpp

#include <tuple>
#include <type_traits>

namespace gccs {

/// Knows some members of a structure: `makeStructHelper(&S::a, &S::b)`. lt() orders by the first that differs.
template <class... Members>
class StructHelper {
 public:
  constexpr explicit StructHelper(Members... members) : members_(members...) {}

  template <class T>
  constexpr bool eq(const T& a, const T& b) const {
    return std::apply([&](auto... m) { return ((a.*m == b.*m) && ...); }, members_);
  }

  template <class T>
  constexpr bool lt(const T& a, const T& b) const {
    int order = 0;  // below 0: a comes first
    const auto compare = [&](const auto& x, const auto& y) { order = x < y ? -1 : y < x ? 1 : 0; };
    const bool same = std::apply([&](auto... m) { return ((compare(a.*m, b.*m), order == 0) && ...); }, members_);
    return !same && order < 0;
  }

 private:
  std::tuple<Members...> members_;
};

template <class... Members>
constexpr StructHelper<std::decay_t<Members>...> makeStructHelper(Members&&... members) {
  return StructHelper<std::decay_t<Members>...>(members...);
}

}  // namespace gccs

#endif
