// VectorList and its layouts, for codelets that name this file.
#ifndef POPLAR_VECTOR_LIST_TYPES_HPP
#define POPLAR_VECTOR_LIST_TYPES_HPP
#ifdef __POPC__
#include <poplar/InOutTypes.hpp>
#endif
#endif
