// What instructions do to data. Each function runs one part after the other; a part that is posted to the team ends the call,
// and the next call goes on with the next part (Cursor::phase).
#include <cstring>
#include <iostream>

#include "base/check.h"
#include "base/error.h"
#include "exec/interpreter.h"

namespace pando::exec {

using tile::Instruction;

namespace {
enum Part : std::uint32_t { kFirst = 1, kSecond, kThird, kFourth };  // kFirst is Phase::kBegin
}

class Interpreter::Machine final : public tile::StepMachine {
 public:
  Machine(Interpreter& interpreter, Cursor& cursor) : interpreter_(interpreter), c_(cursor) {}
  std::int64_t load(const tile::Location& l) const override { return interpreter_.load(c_.replica, l); }
  void store(const tile::Location& l, std::int64_t value) override { interpreter_.store(c_.replica, l, value); }
  void store_clock(const tile::Location& l) override {
    const std::uint64_t cycles = interpreter_.observer ? interpreter_.observer->cycles(ReplicaId(c_.replica), c_.stream) : c_.steps;
    std::memcpy(interpreter_.memory_.at(c_.replica, l.tile, l.offset), &cycles, sizeof cycles);
  }
  void decide(bool jumps) override { c_.jumps = jumps; }
  void set_loaded(FunctionId function, bool loaded) override { c_.loaded[function.index()] = loaded; }

 private:
  Interpreter& interpreter_;
  Cursor& c_;
};

Interpreter::Next Interpreter::perform(Cursor& c, const Instruction& in) {
  const tile::StepRow& row = tile::row_of(in.op);
  switch (row.work) {
    case tile::Work::nothing: break;
    case tile::Work::little:
    case tile::Work::load_code: {
      Machine machine(*this, c);
      row.perform(machine, program_, in);
      break;
    }
    case tile::Work::compute: return compute(c, in);
    case tile::Work::exchange: return exchange(c, in);
    case tile::Work::transfer: {
      const tile::Transfer& t = program_.transfers[in.a];
      return t.kind == tile::Transfer::Kind::remote ? remote(c, t, in.a) : fifo(c, t, transfers_[in.a]);
    }
    case tile::Work::host_call: return host_call(c, in);
    case tile::Work::print: return print(c, program_.transfers[in.a], transfers_[in.a]);
    case tile::Work::error: return error(c, program_.transfers[in.a], transfers_[in.a]);
    case tile::Work::error_if:
      return load(c.replica, program_.locations[in.b]) == 0 ? Next::instruction : error(c, program_.transfers[in.a], transfers_[in.a]);
    case tile::Work::undefine:
      if (options_.poison_undefined) poison(c, exchanges_[in.a].receive);
      break;
    case tile::Work::cross_replica: return cross_replica(in);
    case tile::Work::send: return transfer_block(c, in, ChannelState::End::sends);
    case tile::Work::receive: return transfer_block(c, in, ChannelState::End::receives);
  }
  return Next::instruction;
}

Interpreter::Next Interpreter::compute(Cursor& c, const Instruction& in) {
  ComputeWork& work = *computes_[c.replica][in.a];
  const auto& result = program_.computes[in.a].result;
  if (c.computed) {
    c.computed = false;
    if (result) store(c.replica, *result, pairs_[c.stream.index()][c.pc - 1]->works[c.replica]->result() ? 1 : 0);
    return Next::instruction;
  }
  if (c.phase == kFirst) {
    work.begin();
    if (post(c, work, work.chunks(), work.cost(), kSecond)) return Next::posted;
  }
  if (result) store(c.replica, *result, work.result() ? 1 : 0);
  return Next::instruction;
}

Interpreter::Next Interpreter::exchange(Cursor& c, const Instruction& in) {
  if (!pairs_[c.stream.index()].empty() && pairs_[c.stream.index()][c.pc]) return tile_by_tile(c, *pairs_[c.stream.index()][c.pc]);
  const ExchangePlans& plans = exchanges_[in.a];
  char* const base = memory_.base(c.replica);
  if (c.phase == kFirst && post_moves(c, plans.receive, base, base, kSecond)) return Next::posted;
  if (c.phase == kSecond && post_moves(c, plans.arrange, base, base, kThird)) return Next::posted;
  return Next::instruction;
}

// The compute step that comes next finds its work done.
Interpreter::Next Interpreter::tile_by_tile(Cursor& c, Pair& pair) {
  TileByTile& work = *pair.works[c.replica];
  if (c.phase == kFirst) {
    work.begin();
    if (post(c, work, work.chunks(), pair.cost, kSecond)) return Next::posted;
  }
  c.computed = true;
  return Next::instruction;
}

Interpreter::Next Interpreter::cross_replica(const Instruction& in) {
  const ExchangePlans& plans = exchanges_[in.a];
  const auto& map = program_.replica_maps[in.b];
  std::vector<char> blocks(plans.gathered_bytes * map.size());
  for (std::size_t i = 0; i < map.size(); ++i) plans.gather.run_all(blocks.data() + i * plans.gathered_bytes, memory_.base(map[i].first));
  for (std::size_t i = 0; i < map.size(); ++i) {
    char* const base = memory_.base(map[i].second);
    plans.scatter.run_all(base, blocks.data() + i * plans.gathered_bytes);
    plans.arrange.run_all(base, base);
  }
  return Next::instruction;
}

Interpreter::Next Interpreter::fifo(Cursor& c, const tile::Transfer& t, const MovePlan& plan) {
  const FifoId fifo(t.index);
  if (c.phase == kFirst) {
    if (!enter_host_step(c)) return Next::parked;
    c.block = ends_.begin_block(fifo, c.replica);
    char* const base = memory_.base(c.replica);
    if (post_moves(c, plan, t.to_device ? base : c.block, t.to_device ? c.block : base, kSecond)) return Next::posted;
  }
  ends_.end_block(fifo, c.replica);
  return Next::instruction;
}

Interpreter::Next Interpreter::remote(Cursor& c, const tile::Transfer& t, std::uint32_t index) {
  const RemoteBufferId buffer(t.index);
  const auto rows = static_cast<std::uint32_t>(std::max<std::size_t>(t.rows.size(), 1));
  char* const base = memory_.base(c.replica);
  if (c.phase == kFirst) {
    if (ordered_remote_[t.index] && !enter_host_step(c)) return Next::parked;
    c.row = 0;
  }
  while (c.row < rows) {
    const std::uint32_t i = c.row++;
    const std::int64_t row = t.rows.empty() ? 0 : load(c.replica, t.rows[i]);
    char* const block = ends_.row(buffer, c.replica, static_cast<std::uint64_t>(row));
    const MovePlan& plan = rows > 1 ? rows_[index][i] : transfers_[index];
    if (post_moves(c, plan, t.to_device ? base : block, t.to_device ? block : base, kSecond)) return Next::posted;
  }
  return Next::instruction;
}

Interpreter::Next Interpreter::host_call(Cursor& c, const Instruction& in) {
  if (!enter_host_step(c)) return Next::parked;
  const bool has_inputs = in.a < program_.transfers.size(), has_outputs = in.b < program_.transfers.size();
  PANDO_CHECK(has_inputs || has_outputs);
  std::vector<char> inputs(has_inputs ? program_.transfers[in.a].host_bytes : 0);
  std::vector<char> outputs(has_outputs ? program_.transfers[in.b].host_bytes : 0);
  char* const base = memory_.base(c.replica);
  if (has_inputs) transfers_[in.a].run_all(inputs.data(), base);
  ends_.call(HostFunctionId(program_.transfers[has_inputs ? in.a : in.b].index), c.replica, inputs.data(), outputs.data());
  if (has_outputs) transfers_[in.b].run_all(base, outputs.data());
  return Next::instruction;
}

std::string Interpreter::tensor_text(Cursor& c, const tile::Transfer& t, const MovePlan& plan) {
  const tile::PrintInfo& info = program_.prints[t.index];
  c.scratch.assign(t.host_bytes, 0);
  plan.run_all(c.scratch.data(), memory_.base(c.replica));
  return format_tensor(c.scratch.data(), t.type, info.shape, info.format);
}

Interpreter::Next Interpreter::print(Cursor& c, const tile::Transfer& t, const MovePlan& plan) {
  if (!enter_host_step(c)) return Next::parked;
  const std::string& title = program_.prints[t.index].title;
  std::ostream& out = print_stream ? *print_stream : std::cerr;
  out << (title.empty() ? "" : title + ": ") + tensor_text(c, t, plan) + "\n";
  out.flush();
  return Next::instruction;
}

Interpreter::Next Interpreter::error(Cursor& c, const tile::Transfer& t, const MovePlan& plan) {
  if (!enter_host_step(c)) return Next::parked;
  const std::string& message = program_.prints[t.index].title;
  // An Abort shows no tensor: its transfer has no bytes.
  if (t.host_bytes == 0) fail(ErrorKind::application_runtime_error, "error-program", "{}", message);
  fail(ErrorKind::application_runtime_error, "error-program", "{}: {}", message, tensor_text(c, t, plan));
}

void Interpreter::poison(Cursor& c, const MovePlan& plan) {
  constexpr unsigned char kPoison = 0xA5;
  for (unsigned k = 0; k < plan.chunks(); ++k) plan.fill(k, memory_.base(c.replica), kPoison);
}

std::int64_t Interpreter::load(unsigned replica, const tile::Location& l) const {
  const char* const at = memory_.at(replica, l.tile, l.offset);
  const auto as = [&]<class T>(T value) {
    std::memcpy(&value, at, sizeof value);
    return static_cast<std::int64_t>(value);
  };
  if (l.type == ElementType::float_) return as(0.0f) != 0;
  switch (size_of(l.type)) {
    case 1: return is_signed(l.type) ? as(std::int8_t{}) : as(std::uint8_t{});
    case 2: return is_signed(l.type) ? as(std::int16_t{}) : as(std::uint16_t{});
    case 4: return is_signed(l.type) ? as(std::int32_t{}) : as(std::uint32_t{});
    default: return as(std::int64_t{});
  }
}

void Interpreter::store(unsigned replica, const tile::Location& l, std::int64_t value) const {
  char* const at = memory_.at(replica, l.tile, l.offset);
  if (l.type == ElementType::float_) {
    const auto real = static_cast<float>(value);
    std::memcpy(at, &real, sizeof real);
    return;
  }
  std::memcpy(at, &value, size_of(l.type));
}

void Interpreter::move_handle(tile::TransferId transfer, unsigned replica, char* block) const {
  const tile::Transfer& t = program_.transfers[transfer.index()];
  char* const base = memory_.base(replica);
  transfers_[transfer.index()].run_all(t.to_device ? base : block, t.to_device ? block : base);
}

}  // namespace pando::exec
