#include "poplar/Type.hpp"

#include "base/element_type.h"
#include "facade/state/state.h"
#include "poplar/CodeletFileType.hpp"
#include "poplar/Error.hpp"
#include "poplar/SyncType.hpp"
#include "poplar/TargetType.hpp"
#include "poplar/TensorCloneMethod.hpp"
#include "poplar/VariableMappingMethod.hpp"

namespace poplar {

using pando::ElementType;
using pando::facade::Access;

constinit Type BOOL = Access::type(ElementType::boolean);
constinit Type CHAR = Access::type(ElementType::char_);
constinit Type SIGNED_CHAR = Access::type(ElementType::signed_char);
constinit Type UNSIGNED_CHAR = Access::type(ElementType::unsigned_char);
constinit Type SHORT = Access::type(ElementType::short_);
constinit Type SIGNED_SHORT = Access::type(ElementType::short_);
constinit Type UNSIGNED_SHORT = Access::type(ElementType::unsigned_short);
constinit Type INT = Access::type(ElementType::int_);
constinit Type SIGNED_INT = Access::type(ElementType::int_);
constinit Type SIGNED = Access::type(ElementType::int_);
constinit Type UNSIGNED_INT = Access::type(ElementType::unsigned_int);
constinit Type UNSIGNED = Access::type(ElementType::unsigned_int);
constinit Type LONG = Access::type(ElementType::long_);
constinit Type UNSIGNED_LONG = Access::type(ElementType::unsigned_long);
constinit Type LONGLONG = Access::type(ElementType::long_long);
constinit Type UNSIGNED_LONGLONG = Access::type(ElementType::unsigned_long_long);
constinit Type QUARTER = Access::type(ElementType::quarter);
constinit Type QUARTER_METADATA = Access::type(ElementType::quarter_metadata);
constinit Type HALF = Access::type(ElementType::half);
constinit Type FLOAT = Access::type(ElementType::float_);
constinit Type DOUBLE = Access::type(ElementType::double_);

std::string Type::toString() const {
  if (*this == Type()) return "invalid";
  return std::string(pando::name_of(Access::element_type(*this)));
}

bool Type::isFloatingPoint() const { return *this == FLOAT || *this == HALF || *this == QUARTER || *this == DOUBLE; }
bool Type::requiresMetadata() const { return *this == QUARTER; }

std::ostream& operator<<(std::ostream& out, const Type& type) { return out << type.toString(); }

std::string toString(TargetType type) {
  switch (type) {
    case TargetType::IPU: return "IPU";
    case TargetType::IPU_MODEL: return "IPU_MODEL";
    case TargetType::CPU: return "CPU";
  }
  return "unknown";
}
std::ostream& operator<<(std::ostream& out, TargetType type) { return out << toString(type); }

std::string toString(SyncType type) {
  switch (type) {
    case SyncType::INTERNAL: return "INTERNAL";
    case SyncType::EXTERNAL: return "EXTERNAL";
    case SyncType::GLOBAL: return "GLOBAL";
  }
  return "unknown";
}
std::ostream& operator<<(std::ostream& out, SyncType type) { return out << toString(type); }

std::string toString(VariableMappingMethod method) { return method == VariableMappingMethod::NONE ? "NONE" : "LINEAR"; }
std::ostream& operator<<(std::ostream& out, VariableMappingMethod method) { return out << toString(method); }

std::string toString(TensorCloneMethod method) {
  switch (method) {
    case TensorCloneMethod::PRESERVE_ORDER_AND_ALIASES: return "PRESERVE_ORDER_AND_ALIASES";
    case TensorCloneMethod::CREATE_NEW_ORDER: return "CREATE_NEW_ORDER";
    case TensorCloneMethod::PRESERVE_ORDER_UNLESS_ALIASES: return "PRESERVE_ORDER_UNLESS_ALIASES";
    case TensorCloneMethod::GATHER_AND_PRESERVE_TILE_ORDER_AND_ALIASES: return "GATHER_AND_PRESERVE_TILE_ORDER_AND_ALIASES";
  }
  return "unknown";
}
std::ostream& operator<<(std::ostream& out, TensorCloneMethod method) { return out << toString(method); }

std::string toString(TensorCloneDuplicationMethod method) {
  return method == TensorCloneDuplicationMethod::DUPLICATE_BY_OUTER_DIMENSION ? "DUPLICATE_BY_OUTER_DIMENSION"
                                                                              : "DUPLICATE_BY_TILE_CONTIGUOUS_REGION";
}
std::ostream& operator<<(std::ostream& out, TensorCloneDuplicationMethod method) { return out << toString(method); }

std::ostream& operator<<(std::ostream& out, UpsampleMethod) { return out << "REPEAT"; }

std::string toString(ErrorCode code) {
  switch (code) {
    case ErrorCode::NONE: return "none";
    case ErrorCode::EXCEPTION_FLOATING_POINT: return "floating-point exception";
    case ErrorCode::EXCEPTION_MEMORY: return "memory exception";
    case ErrorCode::EXCEPTION_INSTRUCTION: return "instruction exception";
    case ErrorCode::EXCEPTION_HOST_SYNC: return "host sync exception";
  }
  return "unknown";
}

}  // namespace poplar
