// What the interpreter asks of the machine around it. The native side is runtime/imports.cpp.
#pragma once
#include <stdint.h>

#define HOST(name) __attribute__((import_module("host"), import_name(#name))) host_##name
#define EXPORT(name) __attribute__((export_name(#name))) name

void HOST(write)(const char *text, uint32_t bytes);
int HOST(read)(void);                     // the next character of standard input; waits for it; -1: there is none
uint64_t HOST(ticks_us)(void);
uint64_t HOST(time_ns)(void);             // since 1970
uint32_t HOST(seed)(void);                // another number each time, the same in each run
uint32_t HOST(stack_left)(void);          // bytes of native stack that calls may still use
void HOST(scan_stack)(void);              // calls py_gc_mark for what native stack and registers hold
void HOST(longyield)(void);               // leaves the vertex; returns when the program comes back
void HOST(syscall)(void);                 // the codelet's own function
_Noreturn void HOST(throw)(void);         // goes on in the innermost invoke_*
_Noreturn void HOST(fatal)(const char *why, uint32_t bytes);  // ends this tile's interpreter

// Exchange: see exchange.c.
struct exchange_request;
struct exchange_control;
int HOST(exchange_wait)(const struct exchange_request *request, struct exchange_control *control);  // 0: there is no exchange here
void HOST(exchange_offer)(uint32_t offset, const void *bytes, uint32_t count);  // into what the next rounds may take
void HOST(exchange_read)(uint32_t offset, void *to, uint32_t count);            // from the window that all tiles see
uint32_t HOST(exchange_pair)(uint32_t which);    // in this batch: 0: from which tile this one receives, 0xffffffff: none; 1: whether its message is up
uint32_t HOST(exchange_offer_bytes)(void);       // the size of the offer
uint32_t HOST(exchange_place)(uint32_t which);   // 0: this tile, 1: how many take part, 2: tiles in all, 3: the first that takes part, 4: blocks that each tile lends
uint32_t HOST(exchange_reason)(char *to, uint32_t capacity);  // why an exchange failed; how long that is
