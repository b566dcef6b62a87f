/* How much stack a function may use. On the host stacks are not taken from tile memory: the sizes are accepted and unused. */
#ifndef POPLAR_STACK_SIZE_DEFS_HPP
#define POPLAR_STACK_SIZE_DEFS_HPP
#define DEF_STACK_USAGE(size, name)
#define DEF_STACK_SIZE_OWN(size, name)
#define DEF_FUNC_CALL_PTRS(name, pointers)
#define RECURSIVE_FUNCTION_SIZE (5 * 1024)
#endif
