/* The type of a hardware loop's count. */
#ifndef POPLAR_LOOPS_HPP
#define POPLAR_LOOPS_HPP

#ifdef __POPC__
typedef unsigned rptsize_t;
#endif

#endif
