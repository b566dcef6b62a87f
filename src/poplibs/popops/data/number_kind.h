// How an element's bits are read as a number: shared by vertices over bits and the host code that sets their fields.
#pragma once

namespace popops {

enum class NumberKind : unsigned char { kBool, kInt8, kUint8, kHalf, kInt16, kUint16, kFloat, kInt32, kUint32, kInt64, kUint64 };

}  // namespace popops
