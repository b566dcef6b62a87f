#include "exec/steps/step_execution.h"

#include <cstring>
#include <iostream>

#include "base/check.h"
#include "base/error.h"
#include "exec/steps/scheduler.h"
#include "pando/replicas.hpp"
#include "tile/step.h"

namespace pando::exec {

using tile::Instruction;

namespace {
enum Part : std::uint32_t { kFirst = kBegin, kSecond, kThird };
}

StepExecution::StepExecution(const tile::Program& program, const TileMemory& memory, LoadedProgram& loaded, HostEnds& ends,
                             Scheduler& scheduler, const Options& options)
    : program_(program),
      memory_(memory),
      loaded_(loaded),
      ends_(ends),
      scheduler_(scheduler),
      poisons_undefined_(options.poison_undefined),
      link_(options.link) {
  for (unsigned r = 0; r < program.replication; ++r)
    for (const tile::Channel& c : program.channels) channels_.push_back(std::make_unique<ChannelState>(c.capacity));
}

void StepExecution::begin_run(unsigned index, bool keeps) {
  for (std::uint32_t s = 0; s < program_.streams.size(); ++s)
    for (const std::uint32_t i : loaded_.host_steps(index, StreamId(s))) check_connected(program_.streams[s].code[i]);
  for (auto& channel : channels_) channel->begin_run(!keeps);
}

void StepExecution::check_connected(const Instruction& in) const {
  const tile::Work work = tile::row_of(in.op).work;
  if (work == tile::Work::transfer && program_.transfers[in.a].kind == tile::Transfer::Kind::fifo)
    ends_.check_connected(FifoId(program_.transfers[in.a].index));
  if (work != tile::Work::host_call) return;
  for (const std::uint32_t t : {in.a, in.b})
    if (t < program_.transfers.size()) ends_.check_connected(HostFunctionId(program_.transfers[t].index));
}

class StepExecution::Machine final : public tile::StepMachine {
 public:
  Machine(StepExecution& steps, Cursor& cursor) : steps_(steps), c_(cursor) {}
  std::int64_t load(const tile::Location& l) const override { return steps_.load(c_.replica, l); }
  void store(const tile::Location& l, std::int64_t value) override { steps_.store(c_.replica, l, value); }
  void store_clock(const tile::Location& l) override {
    const std::uint64_t cycles = steps_.scheduler_.clock(c_);
    std::memcpy(steps_.memory_.at(c_.replica, l.tile, l.offset), &cycles, sizeof cycles);
  }
  void decide(bool jumps) override { c_.jumps = jumps; }
  void set_loaded(FunctionId function, bool loaded) override { c_.loaded[function.index()] = loaded; }

 private:
  StepExecution& steps_;
  Cursor& c_;
};

Next StepExecution::perform(Cursor& c, const Instruction& in) {
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
    case tile::Work::transfer: return transfer(c, tile::TransferId(in.a));
    case tile::Work::host_call: return host_call(c, in);
    case tile::Work::print: return print(c, tile::TransferId(in.a));
    case tile::Work::error: return error(c, tile::TransferId(in.a));
    case tile::Work::error_if: return load(c.replica, program_.locations[in.b]) == 0 ? Next::instruction : error(c, tile::TransferId(in.a));
    case tile::Work::undefine:
      if (poisons_undefined_) poison(c, loaded_.exchange(tile::ExchangeId(in.a)).receive);
      break;
    case tile::Work::cross_replica: return cross_replica(c, in);
    case tile::Work::send: return send_or_receive(c, in, ChannelState::End::sends);
    case tile::Work::receive: return send_or_receive(c, in, ChannelState::End::receives);
  }
  return Next::instruction;
}

Next StepExecution::compute(Cursor& c, const Instruction& in) {
  ComputeWork& work = loaded_.compute(c.replica, tile::ComputeId(in.a));
  const auto& result = program_.computes[in.a].result;
  if (c.computed) {
    c.computed = false;
    if (result) store(c.replica, *result, loaded_.pair(c.stream, c.pc - 1)->works[c.replica]->result() ? 1 : 0);
    return Next::instruction;
  }
  if (c.phase == kFirst) {
    work.begin();
    if (scheduler_.post(c, work, work.chunks(), work.cost(), kSecond)) return Next::posted;
  }
  if (result) store(c.replica, *result, work.result() ? 1 : 0);
  return Next::instruction;
}

Next StepExecution::exchange(Cursor& c, const Instruction& in) {
  if (Pair* const pair = loaded_.pair(c.stream, c.pc)) return tile_by_tile(c, *pair);
  const ExchangeMoves& moves = loaded_.exchange(tile::ExchangeId(in.a));
  char* const base = memory_.base(c.replica);
  if (c.phase == kFirst && scheduler_.post_moves(c, moves.receive, base, base, kSecond)) return Next::posted;
  if (c.phase == kSecond && scheduler_.post_moves(c, moves.arrange, base, base, kThird)) return Next::posted;
  return Next::instruction;
}

// The compute step that comes next finds its work done.
Next StepExecution::tile_by_tile(Cursor& c, Pair& pair) {
  TileByTile& work = *pair.works[c.replica];
  if (c.phase == kFirst) {
    work.begin();
    if (scheduler_.post(c, work, work.chunks(), pair.cost, kSecond)) return Next::posted;
  }
  c.computed = true;
  return Next::instruction;
}

// All blocks leave before any is waited for.
Next StepExecution::cross_replica(Cursor& c, const Instruction& in) {
  if (link_ && !scheduler_.enter_host_step(c)) return Next::parked;
  const ExchangeMoves& moves = loaded_.exchange(tile::ExchangeId(in.a));
  const auto& map = program_.replica_maps[in.b];
  const unsigned first = link_ ? link_->first() : 0;
  const auto is_here = [&](unsigned replica) { return replica - first < program_.replication; };
  const std::uint64_t bytes = moves.gathered_bytes;
  std::vector<char> blocks(bytes * map.size());
  for (std::size_t i = 0; i < map.size(); ++i) {
    const auto [from, to] = map[i];
    char* const block = blocks.data() + i * bytes;
    if (!is_here(from)) continue;
    moves.gather.run_all(block, memory_.base(from - first));
    if (!is_here(to)) link_->send(from, to, in.a, block, bytes);
  }
  for (std::size_t i = 0; i < map.size(); ++i) {
    const auto [from, to] = map[i];
    char* const block = blocks.data() + i * bytes;
    if (!is_here(to)) continue;
    if (!is_here(from) && !link_->receive(from, to, in.a, block, bytes, [&] { return scheduler_.is_ending(); })) return Next::instruction;
    char* const base = memory_.base(to - first);
    moves.scatter.run_all(base, block);
    moves.arrange.run_all(base, base);
  }
  return Next::instruction;
}

Next StepExecution::transfer(Cursor& c, tile::TransferId id) {
  const tile::Transfer& t = program_.transfers[id.index()];
  return t.kind == tile::Transfer::Kind::remote ? remote(c, t, id) : fifo(c, t, id);
}

Next StepExecution::fifo(Cursor& c, const tile::Transfer& t, tile::TransferId id) {
  const FifoId fifo(t.index);
  if (c.phase == kFirst) {
    if (!scheduler_.enter_host_step(c)) return Next::parked;
    char* const base = memory_.base(c.replica);
    const MovePlan& moves = loaded_.transfer(id);
    if (const auto& run = moves.only_run(); run && run->bytes == t.host_bytes)
      if (ends_.pass_in_place(fifo, c.replica, base + (t.to_device ? run->destination : run->source))) return Next::instruction;
    c.block = ends_.begin_block(fifo, c.replica);
    if (scheduler_.post_moves(c, moves, t.to_device ? base : c.block, t.to_device ? c.block : base, kSecond)) return Next::posted;
  }
  ends_.end_block(fifo, c.replica);
  return Next::instruction;
}

Next StepExecution::remote(Cursor& c, const tile::Transfer& t, tile::TransferId id) {
  const RemoteBufferId buffer(t.index);
  const auto rows = static_cast<std::uint32_t>(std::max<std::size_t>(t.rows.size(), 1));
  char* const base = memory_.base(c.replica);
  if (c.phase == kFirst) {
    if (loaded_.is_ordered(buffer) && !scheduler_.enter_host_step(c)) return Next::parked;
    c.row = 0;
  }
  while (c.row < rows) {
    const std::uint32_t i = c.row++;
    const std::int64_t row = t.rows.empty() ? 0 : load(c.replica, t.rows[i]);
    char* const block = ends_.row(buffer, c.replica, static_cast<std::uint64_t>(row));
    const MovePlan& plan = rows > 1 ? loaded_.row(id, i) : loaded_.transfer(id);
    if (scheduler_.post_moves(c, plan, t.to_device ? base : block, t.to_device ? block : base, kSecond)) return Next::posted;
  }
  return Next::instruction;
}

Next StepExecution::host_call(Cursor& c, const Instruction& in) {
  if (!scheduler_.enter_host_step(c)) return Next::parked;
  const bool has_inputs = in.a < program_.transfers.size(), has_outputs = in.b < program_.transfers.size();
  PANDO_CHECK(has_inputs || has_outputs);
  std::vector<char> inputs(has_inputs ? program_.transfers[in.a].host_bytes : 0);
  std::vector<char> outputs(has_outputs ? program_.transfers[in.b].host_bytes : 0);
  char* const base = memory_.base(c.replica);
  if (has_inputs) loaded_.transfer(tile::TransferId(in.a)).run_all(inputs.data(), base);
  ends_.call(HostFunctionId(program_.transfers[has_inputs ? in.a : in.b].index), c.replica, inputs.data(), outputs.data());
  if (has_outputs) loaded_.transfer(tile::TransferId(in.b)).run_all(base, outputs.data());
  return Next::instruction;
}

std::string StepExecution::tensor_text(Cursor& c, tile::TransferId id) {
  const tile::Transfer& t = program_.transfers[id.index()];
  const tile::PrintInfo& info = program_.prints[t.index];
  c.scratch.assign(t.host_bytes, 0);
  loaded_.transfer(id).run_all(c.scratch.data(), memory_.base(c.replica));
  return format_tensor(c.scratch.data(), t.type, info.shape, info.format);
}

Next StepExecution::print(Cursor& c, tile::TransferId id) {
  if (!scheduler_.enter_host_step(c)) return Next::parked;
  const std::string& title = program_.prints[program_.transfers[id.index()].index].title;
  std::ostream& out = print_stream ? *print_stream : std::cerr;
  out << (title.empty() ? "" : title + ": ") + tensor_text(c, id) + "\n";
  out.flush();
  return Next::instruction;
}

Next StepExecution::error(Cursor& c, tile::TransferId id) {
  if (!scheduler_.enter_host_step(c)) return Next::parked;
  const tile::Transfer& t = program_.transfers[id.index()];
  const std::string& message = program_.prints[t.index].title;
  // An Abort shows no tensor: its transfer has no bytes.
  if (t.host_bytes == 0) fail(ErrorKind::application_runtime_error, "error-program", "{}", message);
  fail(ErrorKind::application_runtime_error, "error-program", "{}: {}", message, tensor_text(c, id));
}

void StepExecution::poison(Cursor& c, const MovePlan& plan) {
  constexpr unsigned char kPoison = 0xA5;
  for (unsigned k = 0; k < plan.chunks(); ++k) plan.fill(k, memory_.base(c.replica), kPoison);
}

std::int64_t StepExecution::load(unsigned replica, const tile::Location& l) const {
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

void StepExecution::store(unsigned replica, const tile::Location& l, std::int64_t value) const {
  char* const at = memory_.at(replica, l.tile, l.offset);
  if (l.type == ElementType::float_) {
    const auto real = static_cast<float>(value);
    std::memcpy(at, &real, sizeof real);
    return;
  }
  std::memcpy(at, &value, size_of(l.type));
}

void StepExecution::move_handle(tile::TransferId transfer, unsigned replica, char* block) const {
  const tile::Transfer& t = program_.transfers[transfer.index()];
  char* const base = memory_.base(replica);
  loaded_.transfer(transfer).run_all(t.to_device ? base : block, t.to_device ? block : base);
}

}  // namespace pando::exec
