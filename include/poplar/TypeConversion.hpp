#ifndef poplar_TypeConversion_hpp
#define poplar_TypeConversion_hpp

#include <gccs/ArrayRef.hpp>  // programs count on getting it from this header
#include <poplar/ArrayRef.hpp>
#include <poplar/Export.hpp>
#include <poplar/Quarter.hpp>
#include <poplar/Type.hpp>

#include <cstddef>
#include <vector>

namespace poplar {

namespace pando_detail {
/// Converts `n` elements of type `from` at `src` to type `to` at `dst`. Floats round to nearest even; integers that do not fit
/// a float type round; a float that does not fit an integer type saturates. The metadata are used where a type is QUARTER; numbers that are
/// too great for it become the greatest, or with `nanOnOverflow` no number.
POPLAR_EXPORT void convertElements(const Type& from, const void* src, const Type& to, void* dst, std::size_t n,
                                   const QuarterMetadata& metadata, bool nanOnOverflow = false);
}  // namespace pando_detail

/// Converts host values to device elements of type `type`. `dst` has room for src.size() elements.
template <class T> void convertToDeviceType(const Type& type, ArrayRef<T> src, void* dst) {
  pando_detail::convertElements(equivalent_device_type<T>().value, src.data(), type, dst, src.size(), QuarterMetadata());
}
template <class T> void convertToDeviceType(const Type& type, const std::vector<T>& src, void* dst) {
  convertToDeviceType(type, ArrayRef<T>(src), dst);
}
/// The same for QUARTER with its metadata. With `nanoo` numbers that are too great become no number, otherwise the greatest.
template <class T>
void convertToDeviceType(const Type& type, const QuarterMetadata& metadata, ArrayRef<T> src, void* dst, bool nanoo = false) {
  pando_detail::convertElements(equivalent_device_type<T>().value, src.data(), type, dst, src.size(), metadata, nanoo);
}
template <class T> void convertToDeviceType(const Type& type, const QuarterMetadata& metadata, const std::vector<T>& src, void* dst) {
  convertToDeviceType(type, metadata, ArrayRef<T>(src), dst);
}

/// Converts `n` device elements of type `type` to host values.
template <class T> void convertFromDeviceType(const Type& type, const void* src, T* dst, std::size_t n) {
  pando_detail::convertElements(type, src, equivalent_device_type<T>().value, dst, n, QuarterMetadata());
}
/// Writes through `dst`, which the caller made over memory that it may write.
template <class T> void convertFromDeviceType(const Type& type, const void* src, ArrayRef<T> dst) {
  convertFromDeviceType(type, src, const_cast<T*>(dst.data()), dst.size());
}
template <class T> void convertFromDeviceType(const Type& type, const void* src, std::vector<T>& dst) {
  convertFromDeviceType(type, src, dst.data(), dst.size());
}
template <class T>
void convertFromDeviceType(const Type& type, const QuarterMetadata& metadata, const void* src, T* dst, std::size_t n) {
  pando_detail::convertElements(type, src, equivalent_device_type<T>().value, dst, n, metadata);
}
template <class T>
void convertFromDeviceType(const Type& type, const QuarterMetadata& metadata, const void* src, ArrayRef<T> dst) {
  convertFromDeviceType(type, metadata, src, const_cast<T*>(dst.data()), dst.size());
}
template <class T>
void convertFromDeviceType(const Type& type, const QuarterMetadata& metadata, const void* src, std::vector<T>& dst) {
  convertFromDeviceType(type, metadata, src, dst.data(), dst.size());
}

/// What calculateMetadataForConversion minimises.
enum class CostMetric { MEAN_SQUARE_ERROR };
/// The format and scale with the least cost for these values.
POPLAR_EXPORT QuarterMetadata calculateMetadataForConversion(ArrayRef<float> values, CostMetric metric = CostMetric::MEAN_SQUARE_ERROR);

}  // namespace poplar

#endif
