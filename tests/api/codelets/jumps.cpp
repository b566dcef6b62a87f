// Vertices that jump: out of deep calls with the host's <setjmp.h>, and back into calls that an earlier compute set abandoned,
// with declarations of their own as programs for tiles have them.
#include <setjmp.h>
#include <pando/tile.hpp>
#include <poplar/Vertex.hpp>

using namespace poplar;

namespace {

jmp_buf leave, checkpoint;
bool is_waiting = false;

[[gnu::noinline]] int deeper(int n) {
  volatile int here = n;
  if (n == 0) longjmp(leave, 7);
  return deeper(n - 1) + here;
}

// Leaves the vertex below some calls; goes on in a later compute set.
[[gnu::noinline]] void pause() {
  if (!setjmp(checkpoint)) longjmp(leave, 1);
}

[[gnu::noinline]] int sum_of_steps(const int* step, int n, int depth) {
  volatile int local = 100 * depth;
  if (depth > 0) return sum_of_steps(step, n, depth - 1) + local;
  int sum = 0;
  for (int i = 0; i < n; ++i) {
    pause();
    sum += *step;
  }
  return sum;
}

// What the tile's memory tells to the calls that were abandoned.
int current_step = 0;

}  // namespace

class LeaveDeepCalls : public Vertex {
 public:
  Output<int> out;
  void compute() {
    const int value = setjmp(leave);
    *out = value == 0 ? deeper(20) : value;
  }
};

// Sums one step of each compute set; done after `n` of them. Only worker 5 acts.
class SumOfSteps : public MultiVertex {
 public:
  Input<int> step;
  InOut<int> sum;
  InOut<bool> done;
  int n;
  bool compute(unsigned worker) {
    if (worker != 5) return true;
    current_step = *step;
    if (is_waiting) {
      is_waiting = false;
      longjmp(checkpoint, 1);
    }
    is_waiting = setjmp(leave);
    if (is_waiting) return true;
    *sum = sum_of_steps(&current_step, n, 3);
    *done = true;
    return true;
  }
};

class ToNowhere : public Vertex {
 public:
  Output<int> out;
  void compute() {
    jmp_buf never_set;
    *out = 1;
    longjmp(never_set, 1);
  }
};

namespace {
[[gnu::noinline]] void set_and_return(jmp_buf& b) { setjmp(b); }
}  // namespace

class SetHere : public Vertex {
 public:
  Output<int> out;
  void compute() {
    *out = 0;
    set_and_return(leave);
  }
};

class ToAnEndedVertex : public Vertex {
 public:
  Output<int> out;
  void compute() {
    *out = 0;
    longjmp(leave, 1);
  }
};

// More targets than programs have; each vertex call makes its own.
class ManyTargets : public Vertex {
 public:
  Output<int> out;
  void compute() {
    jmp_buf targets[50];
    volatile int returns = 0;
    for (auto& target : targets)
      if (setjmp(target)) {
        returns = returns + 1;
        if (returns == 2) break;
        longjmp(targets[49], 1);
      }
    if (returns == 0) longjmp(targets[7], 1);
    *out = returns;
  }
};

class OnAFiber : public Vertex {
 public:
  Output<int> out;
  void compute() {
    *out = 0;
    pando::fiber_start(0, [](void*) { setjmp(leave); }, nullptr);
  }
};

class SuspendsWhereItJumps : public Vertex {
 public:
  Output<int> out;
  void compute() {
    *out = setjmp(leave);
    pando::suspend();
  }
};

class OfAnIpu : public Vertex {
 public:
  Output<int> out;
  void compute() {
    char* bottom;
    unsigned low, high;
    char here = 0;
    asm volatile("mov %[bottom], $m11" : [bottom] "+r"(bottom)::);
    asm volatile("get %[high], 0x61  // the upper half\n get %[low], 0x60" : [high] "+r"(high), [low] "+r"(low)::);
    *out = bottom - &here < 4096 && &here - bottom < 4096 && high == 0 && low > 0;
  }
};
