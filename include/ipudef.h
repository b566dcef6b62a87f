/* Short vector types. */
#ifndef PANDO_IPUDEF_H
#define PANDO_IPUDEF_H
#include <poplar/VectorTypes.hpp>
#endif
