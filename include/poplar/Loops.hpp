/* The type of a hardware loop's count. Gives way to a type of that name that the program defines, as those of VectorTypes.hpp do. */
#ifndef POPLAR_LOOPS_HPP
#define POPLAR_LOOPS_HPP

#ifdef __POPC__

#ifdef __cplusplus
namespace pando_types {
typedef unsigned rptsize_t;
}
#ifndef __PANDO_GIVES_WAY__
using namespace pando_types;
#endif
#else
typedef unsigned rptsize_t;
#endif

#endif

#endif
