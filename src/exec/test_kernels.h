// Codelets for the tests of this folder, written as kernels: no codelet compiler is needed.
#pragma once

#include <string>
#include <vector>

#include "codelet/hand_made.h"
#include "codelet/runtime/tile_context.h"
#include "tile/hand_made.h"

namespace pando::exec::testing_kernels {

struct Vec {
  float* data;
  std::uint64_t size;
};

// out = in * factor
struct Scale {
  Vec in, out;
  float factor;
};
inline bool scale(char* first, std::uint64_t stride, std::uint64_t count, std::uint64_t*) {
  for (; count > 0; --count, first += stride) {
    auto* v = reinterpret_cast<Scale*>(first);
    for (std::uint64_t i = 0; i < v->in.size; ++i) v->out.data[i] = v->in.data[i] * v->factor;
  }
  return true;
}

// x += by (in place)
struct Add {
  Vec x;
  float by;
};
inline bool add(char* first, std::uint64_t stride, std::uint64_t count, std::uint64_t*) {
  for (; count > 0; --count, first += stride) {
    auto* v = reinterpret_cast<Add*>(first);
    for (std::uint64_t i = 0; i < v->x.size; ++i) v->x.data[i] += v->by;
  }
  return true;
}

// Returns x[0] < limit.
struct Below {
  Vec x;
  float limit;
};
inline bool below(char* first, std::uint64_t stride, std::uint64_t count, std::uint64_t*) {
  bool all = true;
  for (; count > 0; --count, first += stride)
    all = reinterpret_cast<Below*>(first)->x.data[0] < reinterpret_cast<Below*>(first)->limit && all;
  return all;
}

// out[0] = sum of all rows' elements * weights
struct RowSum {
  VectorEdge* rows;
  std::uint64_t row_count;
  Vec out, weights;  // weights: a state vector
};
inline bool row_sum(char* first, std::uint64_t stride, std::uint64_t count, std::uint64_t*) {
  for (; count > 0; --count, first += stride) {
    auto* v = reinterpret_cast<RowSum*>(first);
    v->out.data[0] = 0;
    for (std::uint64_t r = 0; r < v->row_count; ++r)
      for (std::uint64_t i = 0; i < v->rows[r].size; ++i) v->out.data[0] += static_cast<float*>(v->rows[r].data)[i] * v->weights.data[r];
  }
  return true;
}

// A vertex that suspends two calls deep; each time it runs it adds to out[0] what in[0] holds then.
struct Resumable {
  Vec in, out;
};
inline __attribute__((noinline)) void deep(Resumable* v, int depth) {
  volatile char pad[64];
  pad[0] = static_cast<char>(depth);
  if (depth > 0) return deep(v, depth - pad[0]);
  v->out.data[0] += v->in.data[0];
  runtime_table().suspend();
}
inline void resumable_body(void* p) {
  auto* v = static_cast<Resumable*>(p);
  for (int i = 0; i < 3; ++i) deep(v, 1);
  v->out.data[0] += 1000;
}
inline bool resumable(char* first, std::uint64_t stride, std::uint64_t count, std::uint64_t*) {
  const PandoRuntime& rt = runtime_table();
  bool finished = true;
  for (; count > 0; --count, first += stride) {
    const int state = rt.fiber_suspended(0) ? rt.fiber_resume(0) : rt.fiber_start(0, resumable_body, first);
    finished = state == 1 && finished;
  }
  return finished;
}

// out[0] = the tile's number, out[1] = a per-tile counter's value.
struct WhereAmI {
  Vec out;
};
inline bool where_am_i(char* first, std::uint64_t stride, std::uint64_t count, std::uint64_t*) {
  for (; count > 0; --count, first += stride) {
    auto* v = reinterpret_cast<WhereAmI*>(first);
    v->out.data[0] = static_cast<float>(runtime_table().tile_id());
    v->out.data[1] = static_cast<float>(runtime_table().cycle_count());
    v->out.data[2] = static_cast<float>(runtime_table().replica_id());
  }
  return true;
}

inline bool traps(char*, std::uint64_t, std::uint64_t, std::uint64_t*) {
  runtime_table().trap("something is wrong");
  return true;
}

inline __attribute__((noinline)) int overflow_stack(volatile char* above) {
  volatile char pad[4096];
  pad[0] = above[0];
  return pad[0] == 77 ? 0 : overflow_stack(pad) + pad[0];
}
inline void overflow_body(void*) {
  volatile char c = 0;
  overflow_stack(&c);
}
inline bool overflows(char*, std::uint64_t, std::uint64_t, std::uint64_t*) {
  runtime_table().fiber_start(0, overflow_body, nullptr);
  return true;
}

// A module with one global per tile, initially 40 + the tile's number; its codelet adds 1 and gives the new value.
struct CountGlobal {
  Vec out;
};
inline bool count_global(char* first, std::uint64_t stride, std::uint64_t count, std::uint64_t*) {
  for (; count > 0; --count, first += stride) {
    const TileContext& context = tile_context();
    auto* global = reinterpret_cast<float*>(context.base + context.globals[1]);
    reinterpret_cast<CountGlobal*>(first)->out.data[0] = ++*global;
  }
  return true;
}
inline void initialise_global(char* globals) { *reinterpret_cast<float*>(globals) = 40.0f + static_cast<float>(runtime_table().tile_id()); }
// Module 1 of a library that has the other codelets as module 0.
inline CodeletId add_module_with_global(Library& library) {
  const ModuleId m = library.add_builtin(
      "globals", {hand_made_codelet<CountGlobal>("CountGlobal", {hand_made_field("out", FieldKind::output)}, count_global)});
  // Only loaded modules have globals; a test may pretend that this one was.
  const_cast<Module&>(library.module(m)).globals = {sizeof(float), alignof(float), initialise_global};
  return library.id_of("CountGlobal");
}

struct Codelets {
  CodeletId scale, add, below, row_sum, resumable, where, traps, overflows;
};

inline Codelets add_codelets(Library& library) {
  using enum FieldKind;
  const auto vector = [](const char* name, FieldKind kind) { return hand_made_field(name, kind); };
  const auto scalar = [](const char* name) { return hand_made_field(name, state, FieldShape::scalar); };
  std::vector<Codelet> list;
  list.push_back(hand_made_codelet<Scale>("Scale", {vector("in", input), vector("out", output), scalar("factor")}, scale));
  list.push_back(hand_made_codelet<Add>("Add", {vector("x", inout), scalar("by")}, add));
  list.push_back(hand_made_codelet<Below>("Below", {vector("x", input), scalar("limit")}, below));
  const Field rows = hand_made_field("rows", input, FieldShape::vector_of_vectors);
  list.push_back(hand_made_codelet<RowSum>("RowSum", {rows, vector("out", output), vector("weights", state)}, row_sum));
  list.push_back(hand_made_codelet<Resumable>("Resumable", {vector("in", input), vector("out", inout)}, resumable));
  list.push_back(hand_made_codelet<WhereAmI>("WhereAmI", {vector("out", output)}, where_am_i));
  list.push_back(hand_made_codelet("Traps", {vector("x", input)}, traps));
  list.push_back(hand_made_codelet("Overflows", {vector("x", input)}, overflows));
  for (const std::size_t i : {4, 5, 6, 7}) list[i].uses_tile = true;
  library.add_builtin("test kernels", std::move(list));
  const auto id = [&](const char* name) { return library.id_of(name); };
  return {id("Scale"), id("Add"), id("Below"), id("RowSum"), id("Resumable"), id("WhereAmI"), id("Traps"), id("Overflows")};
}

}  // namespace pando::exec::testing_kernels
