// For the compiler's lowering of setjmp (see setjmp_runtime.c); the C library of WebAssembly has none.
#pragma once
typedef struct {
  unsigned words[8];
} jmp_buf[1];
int setjmp(jmp_buf) __attribute__((returns_twice));
_Noreturn void longjmp(jmp_buf, int);
