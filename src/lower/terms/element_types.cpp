#include "lower/terms/element_types.h"

#include "ir/error.h"

#include <poplar/ArrayRef.hpp>

namespace pando::lower {

using ir::DType;

poplar::Type element_type(DType dtype) {
  switch (dtype) {
    case DType::boolean: return poplar::BOOL;
    case DType::int8: return poplar::SIGNED_CHAR;
    case DType::int16: return poplar::SHORT;
    case DType::int32: return poplar::INT;
    case DType::int64: return poplar::LONGLONG;
    case DType::uint8:
    case DType::float8_143:
    case DType::float8_152: return poplar::UNSIGNED_CHAR;
    case DType::uint16: return poplar::UNSIGNED_SHORT;
    case DType::uint32: return poplar::UNSIGNED_INT;
    case DType::uint64: return poplar::UNSIGNED_LONGLONG;
    case DType::float16: return poplar::HALF;
    case DType::float32: return poplar::FLOAT;
    case DType::float64:
    case DType::complex64:
    case DType::complex128: break;
  }
  ir::reject(ir::ErrorClass::popart, "no-such-type-on-tiles", "tiles have no element type {}; float32 is the widest of floats",
             ir::name_of(dtype));
}

bool have_tiles(DType dtype) { return dtype != DType::float64 && !ir::is_complex(dtype); }

std::vector<std::size_t> extents(const ir::Shape& shape) { return {shape.begin(), shape.end()}; }

namespace {

template <class T>
poplar::Tensor constant_of(poplar::Graph& graph, const ir::HostTensor& data, const std::string& name) {
  const auto values = poplar::ArrayRef<T>(reinterpret_cast<const T*>(data.data()), static_cast<std::size_t>(data.elements()));
  return graph.addConstant<T>(element_type(data.dtype()), extents(data.shape()), values, name);
}

}  // namespace

poplar::Tensor add_constant(poplar::Graph& graph, const ir::HostTensor& data, const std::string& name) {
  switch (data.dtype()) {
    case DType::boolean: return constant_of<bool>(graph, data, name);
    case DType::int8: return constant_of<signed char>(graph, data, name);
    case DType::uint8:
    case DType::float8_143:
    case DType::float8_152: return constant_of<unsigned char>(graph, data, name);
    case DType::int16: return constant_of<short>(graph, data, name);
    case DType::uint16: return constant_of<unsigned short>(graph, data, name);
    case DType::int32: return constant_of<int>(graph, data, name);
    case DType::uint32: return constant_of<unsigned>(graph, data, name);
    case DType::int64: return constant_of<long long>(graph, data, name);
    case DType::uint64: return constant_of<unsigned long long>(graph, data, name);
    case DType::float16: {
      const auto bits =
          poplar::ArrayRef<std::uint16_t>(reinterpret_cast<const std::uint16_t*>(data.data()), static_cast<std::size_t>(data.elements()));
      return graph.addConstantHalf(poplar::HALF, extents(data.shape()), bits, name);
    }
    default: break;
  }
  element_type(data.dtype());  // rejects the others
  return constant_of<float>(graph, data, name);
}

}  // namespace pando::lower
