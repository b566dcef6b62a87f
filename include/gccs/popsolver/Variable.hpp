// Variables of a popsolver::Model, and their values.
#ifndef gccs_popsolver_Variable_hpp
#define gccs_popsolver_Variable_hpp

#include <cstdint>
#include <functional>
#include <istream>
#include <limits>
#include <ostream>
#include <poplar/Export.hpp>
#include <type_traits>

namespace gccs {
namespace popsolver {

/// Names a variable of the model that returned it; no variable until it is given one.
class Variable {
 public:
  using IndexType = std::uint32_t;
  Variable() = default;
  explicit Variable(IndexType number) : id(number) {}
  IndexType id = ~IndexType(0);
};

/// A value: an unsigned number of 64 bits that other numbers become only when asked for.
class DataType {
 public:
  using UnderlyingType = std::uint64_t;

  constexpr DataType() = default;
  template <class T, class = typename std::enable_if<std::is_arithmetic<T>::value>::type>
  explicit constexpr DataType(T value) : value_(static_cast<UnderlyingType>(value)) {}

  static constexpr DataType min() { return DataType(std::numeric_limits<UnderlyingType>::min()); }
  static constexpr DataType max() { return DataType(std::numeric_limits<UnderlyingType>::max()); }

  constexpr UnderlyingType operator*() const { return value_; }
  template <class T, class = typename std::enable_if<std::is_arithmetic<T>::value>::type>
  explicit constexpr operator T() const {
    return static_cast<T>(value_);
  }
  template <class T>
  constexpr T getAs() const {
    return static_cast<T>(value_);
  }

  DataType& operator++() { return ++value_, *this; }
  DataType& operator--() { return --value_, *this; }
  DataType operator++(int) { return DataType(value_++); }
  DataType operator--(int) { return DataType(value_--); }
  DataType& operator+=(DataType other) { return value_ += other.value_, *this; }
  DataType& operator*=(DataType other) { return value_ *= other.value_, *this; }

  friend constexpr DataType operator+(DataType a, DataType b) { return DataType(a.value_ + b.value_); }
  friend constexpr DataType operator-(DataType a, DataType b) { return DataType(a.value_ - b.value_); }
  friend constexpr DataType operator*(DataType a, DataType b) { return DataType(a.value_ * b.value_); }
  friend constexpr DataType operator/(DataType a, DataType b) { return DataType(a.value_ / b.value_); }
  friend constexpr DataType operator%(DataType a, DataType b) { return DataType(a.value_ % b.value_); }
  friend constexpr bool operator==(DataType a, DataType b) { return a.value_ == b.value_; }
  friend constexpr bool operator!=(DataType a, DataType b) { return a.value_ != b.value_; }
  friend constexpr bool operator<(DataType a, DataType b) { return a.value_ < b.value_; }
  friend constexpr bool operator>(DataType a, DataType b) { return a.value_ > b.value_; }
  friend constexpr bool operator<=(DataType a, DataType b) { return a.value_ <= b.value_; }
  friend constexpr bool operator>=(DataType a, DataType b) { return a.value_ >= b.value_; }
  friend std::ostream& operator<<(std::ostream& out, DataType v) { return out << v.value_; }
  friend std::istream& operator>>(std::istream& in, DataType& v) { return in >> v.value_; }

 private:
  UnderlyingType value_ = 0;
};

}  // namespace popsolver
}  // namespace gccs

namespace std {
template <>
struct hash<gccs::popsolver::DataType> {
  std::size_t operator()(gccs::popsolver::DataType v) const { return std::hash<gccs::popsolver::DataType::UnderlyingType>()(*v); }
};
}  // namespace std

#endif
