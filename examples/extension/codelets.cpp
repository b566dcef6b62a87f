// What a codelet may ask of its tile beyond the public Poplar API (include/pando/tile.hpp), one vertex each.
#include <pando/tile.hpp>
#include <poplar/Vertex.hpp>

using poplar::InOut;
using poplar::Input;
using poplar::Output;
using poplar::Vector;

// 1. Globals. Each tile has its own copy of this counter, in its memory.
static unsigned calls = 0;

class Count : public poplar::Vertex {
 public:
  Output<unsigned> seen;

  void compute() { *seen = ++calls; }
};

// 2. A reserved range with an initial image: the host registers the bytes "squares", every tile with such a vertex sees them at
// a fixed place of its memory.
class Lookup : public poplar::Vertex {
 public:
  static constexpr pando::Reserve pando_reserve{0x8000, 0x1000};
  static constexpr const char* pando_image = "squares";
  Input<unsigned> index;
  Output<unsigned> value;

  void compute() {
    const unsigned* table = reinterpret_cast<const unsigned*>(pando::tile_base() + pando_reserve.begin);
    *value = table[*index];
  }
};

// 3. Resumption. A session reads one number in each compute set and sums them up; it suspends below two calls and goes on where
// it was, local variables and all.
namespace {

struct Mailbox {
  unsigned number;
  unsigned sum;
};
Mailbox mailbox;

unsigned next_number() {
  pando::suspend();  // until the next compute set with a Session vertex on this tile
  return mailbox.number;
}

void add_three(unsigned* total) {
  for (int i = 0; i < 3; ++i) *total += next_number();
}

void session(void*) {
  unsigned total = 1000 * pando::tile_id();
  add_three(&total);
  mailbox.sum = total;
}

}  // namespace

class Session : public poplar::Vertex {
 public:
  Input<unsigned> number;
  Output<unsigned> sum;  // of the three numbers, once they have come
  Output<bool> done;

  void compute() {
    if (!pando::fiber_suspended(0)) pando::fiber_start(0, session, nullptr);
    mailbox.number = *number;
    *done = pando::fiber_resume(0) == pando::Fiber::returned;
    *sum = *done ? mailbox.sum : 0;
  }
};
