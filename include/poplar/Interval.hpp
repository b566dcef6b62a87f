#ifndef poplar_Interval_hpp
#define poplar_Interval_hpp

#include <cstddef>
#include <map>  // unused here: programs count on getting it from this header
#include <ostream>

namespace poplar {

/// The half-open interval [begin, end).
template <class T> struct GenericInterval {
  GenericInterval() : begin_(), end_() {}
  GenericInterval(T begin, T end) : begin_(begin), end_(end) {}
  const T& begin() const { return begin_; }
  const T& end() const { return end_; }
  T size() const { return end_ - begin_; }
  /// Older names of the bounds.
  const T& lower() const { return begin_; }
  const T& upper() const { return end_; }

 private:
  T begin_, end_;
};

template <class T> bool operator==(const GenericInterval<T>& a, const GenericInterval<T>& b) {
  return a.begin() == b.begin() && a.end() == b.end();
}
template <class T> bool operator!=(const GenericInterval<T>& a, const GenericInterval<T>& b) { return !(a == b); }
/// By begin, then by end.
template <class T> bool operator<(const GenericInterval<T>& a, const GenericInterval<T>& b) {
  return a.begin() < b.begin() || (!(b.begin() < a.begin()) && a.end() < b.end());
}
template <class T> bool operator>(const GenericInterval<T>& a, const GenericInterval<T>& b) { return b < a; }
template <class T> bool operator<=(const GenericInterval<T>& a, const GenericInterval<T>& b) { return !(b < a); }
template <class T> bool operator>=(const GenericInterval<T>& a, const GenericInterval<T>& b) { return !(a < b); }
/// "[begin,end)"
template <class T> std::ostream& operator<<(std::ostream& out, const GenericInterval<T>& i) {
  return out << '[' << i.begin() << ',' << i.end() << ')';
}

typedef GenericInterval<std::size_t> Interval;

}  // namespace poplar

#endif
