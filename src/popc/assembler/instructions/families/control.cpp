// Where control goes, and control registers.
#include "popc/assembler/instructions/families.h"

namespace pando::popc {

namespace {

using namespace llvm;

Value* is_zero(Meaning& m) { return m.b.CreateICmpEQ(m.word(0), m.b.getInt32(0)); }
Value* is_negative(Meaning& m) { return m.b.CreateICmpSLT(m.word(0), m.b.getInt32(0)); }

}  // namespace

std::vector<InstructionRow> instructions_control() {
  std::vector<InstructionRow> rows;
  const auto add = [&](const char* name, const char* forms, Flow flow, const char* meaning, std::function<void(Meaning&)> emit) {
    rows.push_back({name, IssuePipe::main, forms, meaning, std::move(emit), flow});
  };
  add("bri", "L", Flow::jump, "jumps", [](Meaning&) {});
  add("br", "m", Flow::indirect, "jumps to the address in a register", [](Meaning&) {});
  add("call", "=m,L", Flow::call, "jumps; the register has the address of what follows", [](Meaning&) {});
  add("brz", "m,L", Flow::branch, "jumps if 0", [](Meaning& m) { m.condition = is_zero(m); });
  add("brnz", "m,L", Flow::branch, "jumps if not 0", [](Meaning& m) { m.condition = m.b.CreateNot(is_zero(m)); });
  add("brneg", "m,L", Flow::branch, "jumps if negative", [](Meaning& m) { m.condition = is_negative(m); });
  add("brpos", "m,L", Flow::branch, "jumps if not negative", [](Meaning& m) { m.condition = m.b.CreateNot(is_negative(m)); });
  add("brnzdec", "+m,L", Flow::branch, "if not 0, takes 1 off and jumps", [](Meaning& m) {
    m.condition = m.b.CreateNot(is_zero(m));
    m.set(0, m.b.CreateSub(m.word(0), m.b.CreateZExt(m.condition, m.b.getInt32Ty())));
  });
  add("exitz", "m", Flow::exit, "ends the vertex: true if 0", [](Meaning& m) { m.condition = is_zero(m); });
  add("exitnz", "m", Flow::exit, "ends the vertex: true if not 0", [](Meaning& m) { m.condition = m.b.CreateNot(is_zero(m)); });
  add("exitneg", "m", Flow::exit, "ends the vertex: true if negative", [](Meaning& m) { m.condition = is_negative(m); });
  add("exitpos", "m", Flow::exit, "ends the vertex: true if not negative", [](Meaning& m) { m.condition = m.b.CreateNot(is_negative(m)); });
  add("rpt", "m,z8|z12,z8", Flow::repeat, "repeats bundles: how often, how many less 1", [](Meaning&) {});
  add("get", "=m,csr", Flow::next, "reads a control register",
      [](Meaning& m) { m.set(0, m.control(static_cast<unsigned>(m.number(1)) & 0x7f)); });
  add("put", "csr,m", Flow::next, "writes a control register",
      [](Meaning& m) { m.set_control(static_cast<unsigned>(m.number(0)) & 0x7f, m.word(1)); });
  rows.push_back({"uget", IssuePipe::aux, "=a,csr", "reads a control register of floating point",
                  [](Meaning& m) { m.set(0, m.control(static_cast<unsigned>(m.number(1)) % 128 % 16 + 128)); }});
  rows.push_back({"uput", IssuePipe::aux, "csr,a", "writes a control register of floating point",
                  [](Meaning& m) { m.set_control(static_cast<unsigned>(m.number(0)) % 128 % 16 + 128, m.word(1)); }});
  return rows;
}

}  // namespace pando::popc
