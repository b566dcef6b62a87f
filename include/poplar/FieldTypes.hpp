// The fields of a vertex, for codelets that name this file.
#ifndef POPLAR_FIELD_TYPES_HPP
#define POPLAR_FIELD_TYPES_HPP
#ifdef __POPC__
#include <poplar/InOutTypes.hpp>
#endif
#endif
