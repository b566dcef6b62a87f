// What supervisors do: weights for their workers, starting them, waiting for them.
#include "codelet/runtime/worker_memory.h"
#include "popc/assembler/instructions/families.h"

namespace pando::popc {

namespace {

using namespace llvm;

constexpr unsigned kLoadAddress = 80;  // $CCCSLOAD

// 8 bytes, or 16, go to the weights from `index` on.
void load_weights(Meaning& m, unsigned bytes) {
  Value* address = m.control(kLoadAddress);
  Type* pair = FixedVectorType::get(m.b.getInt32Ty(), 2);
  for (unsigned k = 0; 8 * k < bytes; ++k) {
    Value* loaded = m.load(pair, m.b.CreateAdd(address, m.b.getInt32(8 * k)));
    m.b.CreateStore(loaded, m.weight_address(m.b.getInt64((static_cast<std::uint64_t>(m.number(0)) + k) & 63)));
  }
  m.set_control(kLoadAddress, m.b.CreateAdd(address, m.b.getInt32(bytes)));
}

}  // namespace

std::vector<InstructionRow> instructions_supervisor() {
  std::vector<InstructionRow> rows;
  const auto add = [&](const char* name, const char* forms, Flow flow, const char* meaning, std::function<void(Meaning&)> emit) {
    rows.push_back({name, IssuePipe::main, forms, meaning, std::move(emit), flow});
  };
  add("ld64putcs", "z8", Flow::supervisor, "loads 8 bytes at $CCCSLOAD, which steps, into common compute weights",
      [](Meaning& m) { load_weights(m, 8); });
  add("ld128putcs", "z8", Flow::supervisor, "loads 16 bytes at $CCCSLOAD, which steps, into common compute weights",
      [](Meaning& m) { load_weights(m, 16); });
  add("sync", "z8", Flow::supervisor, "waits for the workers of the tile", [](Meaning&) {});
  add("runall", "m,m,z16", Flow::start_workers, "starts all workers at an address, with a state", [](Meaning&) {});
  return rows;
}

}  // namespace pando::popc
