#include "exec/address_space.h"

#include <sys/mman.h>

#include "base/sizes.h"

namespace pando::exec {
namespace {

constexpr std::uint64_t kRound = std::uint64_t{1} << 32;

char* map(std::uint64_t bytes) {
  void* const p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return p == MAP_FAILED ? nullptr : static_cast<char*>(p);
}

}  // namespace

char* map_lazily(std::uint64_t bytes) {
  char* const first = map(saturating_add(bytes, kRound));
  if (!first) return map(bytes);
  // To the next address whose low half is the first that is large enough.
  const std::uint64_t before = (kSmallNumbers - reinterpret_cast<std::uint64_t>(first)) % kRound;
  if (before > 0) munmap(first, before);
  munmap(first + before + bytes, kRound - before);
  return first + before;
}

}  // namespace pando::exec
