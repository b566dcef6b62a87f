// What is true of each kind of step (tile::Op): one row in one file of steps/. Texts, checks, the executor, the cycle model and reports ask
// the row; none of them lists kinds. A new kind is a new file there, if its work is one of `Work` or small enough for a StepMachine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tile/program.h"

namespace pando::tile {

// What an operand of an instruction is.
enum class Names : std::uint8_t {
  nothing,
  compute,
  exchange,
  replica_map,
  function,
  tile,
  location,
  loaded_function,  // a function, if the other operand says that its code must have been loaded
  flag,             // 0 or 1
  locations_begin,
  locations_end,  // of a range of locations; the last one is written, the others are read
  channel,
  send_place,
  receive_place,
  fifo_or_remote,
  print,
  error,
  host_inputs,
  host_outputs,  // transfers of these kinds
};

// What a step does to data. Each needs a part of the executor and of the cycle model; `little` is what its row's `perform` does.
enum class Work : std::uint8_t {
  nothing,
  little,
  compute,
  exchange,
  transfer,
  host_call,
  print,
  error,
  error_if,
  undefine,
  cross_replica,
  load_code,
  send,
  receive
};

// Where a stream goes on.
enum class Flow : std::uint8_t {
  next,
  repeat,      // begins `count` rounds, or goes to the target if there are none
  repeat_end,  // to the target for the next round, or out
  loop_begin,  // an unbounded loop
  loop_next,   // to the target for the next round
  loop_end,
  branch,  // to the target if the machine was told so
  jump,
  call,       // to the target; the end of the function comes back
  give_back,  // the end of a function
  end,
};

// When a step runs on the host's side, in the order of host steps (contract 4).
enum class HostStep : std::uint8_t { never, always, if_ordered /* a transfer, unless nobody can tell its order */ };

// What a step of little work may do; the executor is one.
class StepMachine {
 public:
  virtual ~StepMachine() = default;
  virtual std::int64_t load(const Location& location) const = 0;  // a float: whether it is not zero
  virtual void store(const Location& location, std::int64_t value) = 0;
  // Eight bytes, low word first.
  virtual void store_clock(const Location& location) = 0;
  virtual void decide(bool jumps) = 0;
  virtual void set_loaded(FunctionId function, bool loaded) = 0;
};

struct StepRow {
  std::string_view name;  // of the enumerator
  // The text of an instruction. $a, $b: operands; $t: the target; $n, $i: the count, unsigned and as a signed 32-bit number; $r, $l: of a
  // range of locations the result and the others.
  std::string_view text;
  std::string_view text_if_b = {};    // where b is not 0
  std::string_view kind = "control";  // in reports
  Names a = Names::nothing, b = Names::nothing;
  Work work = Work::nothing;
  Flow flow = Flow::next;
  HostStep host = HostStep::never;
  bool is_observed = false;     // StepObserver::on_step is called also where no streams sync
  bool is_memory_step = false;  // a step of the memory report
  bool reads_clock = false;
  void (*perform)(StepMachine&, const Program&, const Instruction&) = nullptr;  // of little work and of load_code
};

const StepRow& row_of(Op op);

// May the next instruction be the following one; may it be the target?
bool falls_through(Flow flow);
bool may_jump(Flow flow);

// How many things of this kind the program has; what they are called in messages; what stands before their number in texts.
std::size_t count_of(const Program& program, Names names);
const char* word_of(Names names);

// The first words of its text.
std::string name_of(Op op);
// "compute c3", "repeat 10 else to 7", ... without its position and name.
std::string text_of(const Program& program, const Instruction& instruction);
// The instruction that has this text, but for its sync, order and name. Locations are found among the program's; nothing: no kind of step
// reads so.
std::optional<Instruction> parse_instruction(const Program& program, std::string_view text);

#define X(step) extern const StepRow step_##step;
#include "step_manifest.inc"
#undef X

}  // namespace pando::tile
