// What the host can do: the line that makes the other figures comparable between hosts. It is compiled for the host.
#include "bench.h"

namespace {

#if defined(__AVX512F__)
constexpr int kLanes = 16;
#elif defined(__AVX__)
constexpr int kLanes = 8;
#else
constexpr int kLanes = 4;
#endif
using Vector = float __attribute__((vector_size(4 * kLanes)));

// GFLOP/s of multiply-adds of floats on `threads` threads, with operands in registers: no product can be faster.
double multiply_adds_per_second(unsigned threads) {
  constexpr int kSums = 12, kRounds = 4'000'000;  // enough sums to hide how long one takes
  const double seconds = pando::bench::best_of(5, [threads] {
    std::vector<std::thread> team;
    for (unsigned t = 0; t < threads; ++t)
      team.emplace_back([] {
        Vector sums[kSums], factor = Vector{} + 0.999f, addend = Vector{} + 0.001f;
        for (int s = 0; s < kSums; ++s) sums[s] = Vector{} + static_cast<float>(s);
        for (int i = 0; i < kRounds; ++i)
          for (Vector& s : sums) {
            s = s * factor + addend;
            asm volatile("" : "+x"(s));
          }
      });
    for (std::thread& t : team) t.join();
  });
  return 2.0 * kLanes * kSums * kRounds * threads / seconds / 1e9;
}

}  // namespace

int main() {
  pando::bench::print_calibration();
  fmt::print("      multiply-adds of floats {:.1f} GFLOP/s on one thread, {:.1f} on two\n", multiply_adds_per_second(1),
             multiply_adds_per_second(2));
  return 0;
}
