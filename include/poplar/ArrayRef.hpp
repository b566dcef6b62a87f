#ifndef poplar_ArrayRef_hpp
#define poplar_ArrayRef_hpp

#include <algorithm>
#include <array>
#include <cassert>  // unused here: programs count on getting it from this header
#include <cstddef>
#include <initializer_list>
#include <type_traits>
#include <vector>

namespace poplar {

/// A read-only view of `size()` elements that lie one after the other. It does not own them: a parameter type, not a member type.
template <class T> class ArrayRef {
  template <class U> using IfSameArray = typename std::enable_if<std::is_convertible<const U (*)[], const T (*)[]>::value>::type;

 public:
  using value_type = T;
  using size_type = std::size_t;
  using const_reference = const T&;
  using const_iterator = const T*;
  using iterator = const T*;

  ArrayRef() noexcept : data_(nullptr), size_(0) {}
  ArrayRef(const T* data, std::size_t size) noexcept : data_(data), size_(size) {}
  template <class U, class Allocator, class = IfSameArray<U>>
  ArrayRef(const std::vector<U, Allocator>& v) noexcept : data_(v.data()), size_(v.size()) {}
  template <class U, std::size_t N, class = IfSameArray<U>>
  ArrayRef(const std::array<U, N>& a) noexcept : data_(a.data()), size_(N) {}
  template <class U, std::size_t N, class = IfSameArray<U>> ArrayRef(const U (&a)[N]) noexcept : data_(a), size_(N) {}
  template <class U, class = IfSameArray<U>> ArrayRef(const ArrayRef<U>& a) noexcept : data_(a.data()), size_(a.size()) {}
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 9
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winit-list-lifetime"
#endif
  /// Lives until the end of the full expression: for arguments.
  ArrayRef(std::initializer_list<T> list) noexcept : data_(list.begin()), size_(list.size()) {}
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 9
#pragma GCC diagnostic pop
#endif

  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  const T* data() const noexcept { return data_; }
  const T* begin() const noexcept { return data_; }
  const T* end() const noexcept { return data_ + size_; }
  const T* cbegin() const noexcept { return data_; }
  const T* cend() const noexcept { return data_ + size_; }
  const T& front() const { return data_[0]; }
  const T& back() const { return data_[size_ - 1]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  std::vector<T> cloneAsVector() const { return std::vector<T>(begin(), end()); }

 protected:
  const T* data_;
  std::size_t size_;
};

#if __cplusplus >= 201703L
template <class T, class Allocator> ArrayRef(const std::vector<T, Allocator>&) -> ArrayRef<T>;
template <class T, std::size_t N> ArrayRef(const std::array<T, N>&) -> ArrayRef<T>;
template <class T, std::size_t N> ArrayRef(const T (&)[N]) -> ArrayRef<T>;
#endif

template <class T> bool operator==(const ArrayRef<T>& a, const ArrayRef<T>& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin());
}
template <class T> bool operator!=(const ArrayRef<T>& a, const ArrayRef<T>& b) { return !(a == b); }

}  // namespace poplar

#endif
