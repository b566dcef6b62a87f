/* How much stack a function may use, and what it calls through pointers. On the host stacks are not taken from tile memory: sizes are
 * accepted and unused. In assembly they are statements, which popc reads: DEF_STACK_USAGE 16 function. */
#ifndef POPLAR_STACK_SIZE_DEFS_HPP
#define POPLAR_STACK_SIZE_DEFS_HPP
#ifdef __ASSEMBLER__
#define FUNCTION_IS_WORKER "ax"
#else
#define DEF_STACK_USAGE(size, function)
#define DEF_STACK_SIZE_OWN(size, function)
#define DEF_FUNC_CALLS(function, callees)
#define DEF_FUNC_CALL_PTRS(function, callees)
#endif
#define RECURSIVE_FUNCTION_SIZE (5 * 1024)
#endif
