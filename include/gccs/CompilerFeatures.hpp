// What compilers differ in, as public headers use it.
#ifndef gccs_CompilerFeatures_hpp
#define gccs_CompilerFeatures_hpp

/// Before a declaration: uses of it are warned of.
#define GC_DEPRECATED __attribute__((deprecated))

#endif
