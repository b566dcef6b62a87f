#ifndef popfloat_experimental_CastToHalf_hpp
#define popfloat_experimental_CastToHalf_hpp

// Programs include this file beside CastToGfloat.hpp and call nothing of its own.
#include <popfloat/experimental/CastToGfloat.hpp>

#endif
