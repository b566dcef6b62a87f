// Short vectors: clang ext-vectors. Elements by [], arithmetic by element, a scalar broadcasts, structured bindings work.
#ifndef POPLAR_VECTOR_TYPES_HPP
#define POPLAR_VECTOR_TYPES_HPP

#ifdef __POPC__

#include <poplar/HalfFloat.hpp>

typedef char char2 __attribute__((ext_vector_type(2)));
typedef char char4 __attribute__((ext_vector_type(4)));
typedef char char8 __attribute__((ext_vector_type(8)));
typedef unsigned char uchar2 __attribute__((ext_vector_type(2)));
typedef unsigned char uchar4 __attribute__((ext_vector_type(4)));
typedef unsigned char uchar8 __attribute__((ext_vector_type(8)));
typedef signed char schar2 __attribute__((ext_vector_type(2)));
typedef signed char schar4 __attribute__((ext_vector_type(4)));
typedef signed char schar8 __attribute__((ext_vector_type(8)));
typedef short short2 __attribute__((ext_vector_type(2)));
typedef short short4 __attribute__((ext_vector_type(4)));
typedef short short8 __attribute__((ext_vector_type(8)));
typedef unsigned short ushort2 __attribute__((ext_vector_type(2)));
typedef unsigned short ushort4 __attribute__((ext_vector_type(4)));
typedef unsigned short ushort8 __attribute__((ext_vector_type(8)));
typedef int int2 __attribute__((ext_vector_type(2)));
typedef int int4 __attribute__((ext_vector_type(4)));
typedef int int8 __attribute__((ext_vector_type(8)));
typedef unsigned int uint2 __attribute__((ext_vector_type(2)));
typedef unsigned int uint4 __attribute__((ext_vector_type(4)));
typedef unsigned int uint8 __attribute__((ext_vector_type(8)));
typedef long long2 __attribute__((ext_vector_type(2)));
typedef long long4 __attribute__((ext_vector_type(4)));
typedef long long8 __attribute__((ext_vector_type(8)));
typedef unsigned long ulong2 __attribute__((ext_vector_type(2)));
typedef unsigned long ulong4 __attribute__((ext_vector_type(4)));
typedef unsigned long ulong8 __attribute__((ext_vector_type(8)));
typedef long long longlong2 __attribute__((ext_vector_type(2)));
typedef long long longlong4 __attribute__((ext_vector_type(4)));
typedef long long longlong8 __attribute__((ext_vector_type(8)));
typedef unsigned long long ulonglong2 __attribute__((ext_vector_type(2)));
typedef unsigned long long ulonglong4 __attribute__((ext_vector_type(4)));
typedef unsigned long long ulonglong8 __attribute__((ext_vector_type(8)));
typedef half half2 __attribute__((ext_vector_type(2)));
typedef half half4 __attribute__((ext_vector_type(4)));
typedef half half8 __attribute__((ext_vector_type(8)));
typedef float float2 __attribute__((ext_vector_type(2)));
typedef float float4 __attribute__((ext_vector_type(4)));
typedef float float8 __attribute__((ext_vector_type(8)));
typedef char char16 __attribute__((ext_vector_type(16)));
typedef half half16 __attribute__((ext_vector_type(16)));

#ifdef __cplusplus
namespace poplar {
using ::char2;
using ::char4;
using ::char8;
using ::float2;
using ::float4;
using ::float8;
using ::half2;
using ::half4;
using ::half8;
using ::int2;
using ::int4;
using ::int8;
using ::long2;
using ::long4;
using ::long8;
using ::longlong2;
using ::longlong4;
using ::longlong8;
using ::schar2;
using ::schar4;
using ::schar8;
using ::short2;
using ::short4;
using ::short8;
using ::uchar2;
using ::uchar4;
using ::uchar8;
using ::uint2;
using ::uint4;
using ::uint8;
using ::ulong2;
using ::ulong4;
using ::ulong8;
using ::ulonglong2;
using ::ulonglong4;
using ::ulonglong8;
using ::ushort2;
using ::ushort4;
using ::ushort8;
}  // namespace poplar
#endif

#endif  // __POPC__
#endif
