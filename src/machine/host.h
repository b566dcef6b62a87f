// What the processor that runs the programs does, as data: rules by which plans are chosen and work is cut into parts. Results do not
// depend on them, and nothing is measured in a run.
#pragma once

namespace pando {

// Of one thread; times in nanoseconds, rates per nanosecond.
struct Host {
  // Products: multiplications and additions; bytes of operands that come from the caches of others, and of results.
  double flops = 100;
  double operand_bytes = 10;
  // A product's vertex; each run of memory that is copied for it.
  double vertex = 30;
  double run = 8;

  // Convolutions by row: a block's tables and code; bytes that are read where they lie, or copied together before; an operand; a piece of
  // a partial sum; a copied run.
  double block = 3000;
  double read_bytes = 20;
  double gathered_bytes = 6;
  double piece = 10;
  double sum_piece = 12;
  double gathered_run = 6;

  // Rows that are looked up: an index that is compared, a row that is found, a vertex.
  double look = 0.15;
  double row = 12;
  double row_vertex = 60;

  // Moves: bytes, and each run of them, when the next ones are prefetched.
  double moved_bytes = 16;
  double moved_run = 4;

  // What the caches hold that are nearest to the threads: in it, prefetching costs more than it saves.
  double near_bytes = 2 << 20;

  // Any vertex: to call it, and one that looks at its tile; bytes of its operands; cycles of its estimate.
  double call = 3;
  double tile_call = 500;
  double touched_bytes = 8;
  double estimated_cycles = 8;

  // Parts that large work is cut into: vertices on the CPU device, whose one tile has all of it, and elements of one of them, at least,
  // where little is done with each; threads that shall have some.
  unsigned vertices = 24;
  unsigned elements = 256;
  unsigned threads = 8;
};

}  // namespace pando
