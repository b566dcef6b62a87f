// What a codelet may ask of its tile beyond the public Poplar API. Include it in codelet sources; popc reflects the requests.
//
// 1. The tile itself.
//
//      class WhereAmI : public poplar::Vertex {
//        poplar::Output<unsigned> tile;
//        poplar::Output<float> first;                     // of the tile's memory, as the program sees it
//        void compute() {
//          *tile = pando::tile_id();
//          *first = *reinterpret_cast<float *>(pando::tile_base() + 0x100);
//        }
//      };
//
// 2. A reserved range and an initial image. The range [begin, begin + bytes) of the tile's memory belongs to this codelet's
//    tiles for the whole program: nothing else is placed there. With an image, the range starts with the bytes that the host
//    registered under that name (mapped copy-on-write).
//
//      class Interpreter : public poplar::Vertex {
//       public:
//        static constexpr pando::Reserve pando_reserve{0x10000, 0x40000};
//        static constexpr const char *pando_image = "python";
//        void compute() { auto *heap = pando::tile_base() + pando_reserve.begin; ... }
//      };
//
//    A library of functions, which is linked to codelets of others, asks for the tiles of whoever calls it, and says how much
//    memory its code takes there (once per tile):
//
//      extern "C" const pando::Needs pando_needs_python{{0x34000, 0x40000}, "python", 150000};    // the name: pando_needs_..., one or
//      several void run(const char *text) { pando::need(pando_needs_python); ... }
//
//    A vertex class says the size of its own code, where the host's code tells nothing:
//
//      static constexpr unsigned pando_code_bytes = 2000;
//
// 3. Resumption. A fiber is a function with a stack of its own on this tile; it can suspend at any depth and go on in a later
//    compute set, from the same vertex or from another one.
//
//      void chat(void *argument) { for (;;) { answer(); pando::suspend(); } }   // below any number of calls
//
//      class Start : public poplar::Vertex {
//        poplar::Output<bool> done;
//        void compute() { *done = pando::fiber_start(0, chat, nullptr) == pando::Fiber::returned; }
//      };
//      class GoOn : public poplar::Vertex {
//        poplar::Output<bool> done;
//        void compute() { *done = pando::fiber_resume(0) == pando::Fiber::returned; }
//      };
//
// 4. The end.  if (*index >= size) pando::trap("index out of range");   // the run stops with an error that names the tile
//
// Mutable globals and function statics need no request: each tile has its own copy of them.
#ifndef PANDO_TILE_HPP
#define PANDO_TILE_HPP

#include <pando/device_runtime.h>

// Set by the loader before any code of the module runs. C codelets use it directly.
extern "C" const PandoRuntime* pando_runtime;

namespace pando {

// A range of tile memory, as a static constexpr member `pando_reserve` of a vertex class.
struct Reserve {
  unsigned long long begin;  // bytes from the tile's base
  unsigned long long bytes;
};

// What a library needs of a tile: see above.
struct Needs {
  Reserve reserve;
  const char* image;  // or null
  unsigned long long code_bytes;
};

// popc finds who calls this, through any number of calls.
inline void need(const Needs& needs) { __asm__ volatile("" : : "r"(&needs)); }

// Number of the tile in its replica, how many tiles the machine has, and which replica this is.
inline unsigned tile_id() { return pando_runtime->tile_id(); }
inline unsigned tile_count() { return pando_runtime->tile_count(); }
inline unsigned replica_id() { return pando_runtime->replica_id(); }

// The tile's memory.
//   memset(pando::tile_base() + pando_reserve.begin, 0, pando_reserve.bytes);
inline char* tile_base() { return pando_runtime->tile_base(); }
inline unsigned long long tile_size() { return pando_runtime->tile_size(); }

enum class Fiber : int { misuse = -1, suspended = 0, returned = 1 };

// Runs function(argument) on a stack of its own until it returns or suspends. misuse: the slot holds a suspended fiber.
//   if (pando::fiber_start(0, &session, &state) == pando::Fiber::suspended) ...
inline Fiber fiber_start(unsigned slot, void (*function)(void*), void* argument) {
  return static_cast<Fiber>(pando_runtime->fiber_start(slot, function, argument));
}
// Goes on where the fiber in the slot suspended. misuse: there is none.
//   while (pando::fiber_resume(0) == pando::Fiber::suspended) {}
inline Fiber fiber_resume(unsigned slot) { return static_cast<Fiber>(pando_runtime->fiber_resume(slot)); }
//   if (!pando::fiber_suspended(0)) pando::fiber_start(0, &session, &state);
inline bool fiber_suspended(unsigned slot) { return pando_runtime->fiber_suspended(slot) > 0; }
// Called inside a fiber: returns to the vertex that started or resumed it.
//   while (!*ready) pando::suspend();
inline void suspend() { pando_runtime->suspend(); }

// Ends the run with an application_runtime_error that names the tile.
//   if (n == 0) pando::trap("division by zero");
[[noreturn]] inline void trap(const char* message) {
  pando_runtime->trap(message);
  __builtin_unreachable();
}

// Counts up; deterministic per tile. For random seeds and code that reads a cycle counter.
//   seed ^= pando::cycle_count();
inline unsigned long long cycle_count() { return pando_runtime->cycle_count(); }

}  // namespace pando

#endif
