// Short vectors: clang ext-vectors. Elements by [], arithmetic by element, a scalar broadcasts, structured bindings work.
//
// A codelet file may define types of these names itself, beside or before this header: its own are then meant, everywhere in the file.
// popc finds a name in namespace pando_types where nothing else has it (popc/given_names.h).
#ifndef POPLAR_VECTOR_TYPES_HPP
#define POPLAR_VECTOR_TYPES_HPP

#ifdef __POPC__

#include <poplar/HalfFloat.hpp>

#ifdef __cplusplus
namespace pando_types {
#endif

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
}  // namespace pando_types
#ifndef __PANDO_GIVES_WAY__
using namespace pando_types;
#endif
#endif

#endif  // __POPC__
#endif
