// What the interpreter prepares at load: resolved moves, who meets whom, which instructions a program can reach.
#include <algorithm>

#include "base/check.h"
#include "exec/interpreter.h"

namespace pando::exec {

using tile::Instruction;
using tile::Op;

namespace {

// The part of a transfer's moves that belongs to one row of the host block, with offsets from the row.
std::vector<tile::Move> moves_of_row(const tile::Transfer& t, std::uint64_t row) {
  const std::uint64_t begin = row * t.row_bytes, end = begin + t.row_bytes;
  std::vector<tile::Move> out;
  for (const tile::Move& m : t.moves) {
    for (std::uint32_t i = 0; i < m.count; ++i) {
      tile::Move part = m;
      part.source += static_cast<std::uint64_t>(m.source_step * static_cast<std::int64_t>(i));
      part.destination += static_cast<std::uint64_t>(m.destination_step * static_cast<std::int64_t>(i));
      part.count = 1;
      std::uint64_t& host = t.to_device ? part.source : part.destination;
      std::uint64_t& device = t.to_device ? part.destination : part.source;
      const std::uint64_t low = std::max(host, begin), high = std::min(host + m.bytes, end);
      if (low >= high) continue;
      device += low - host;
      part.bytes = static_cast<std::uint32_t>(high - low);
      host = low - begin;
      out.push_back(part);
    }
  }
  return out;
}

}  // namespace

void Interpreter::build_plans(unsigned chunks) {
  const std::uint64_t stride = memory_.stride();
  for (const tile::Exchange& x : program_.exchanges) {
    ExchangePlans& plans = exchanges_.emplace_back();
    plans.receive = MovePlan::build(x.receive, stride, chunks);
    plans.arrange = MovePlan::build(x.arrange, stride, chunks);
  }
  build_replica_copies(chunks);
  rows_.resize(program_.transfers.size());
  for (std::size_t i = 0; i < program_.transfers.size(); ++i) {
    const tile::Transfer& t = program_.transfers[i];
    transfers_.push_back(MovePlan::build(t.moves, stride, chunks));
    if (t.kind != tile::Transfer::Kind::remote || t.rows.size() <= 1) continue;
    for (std::size_t r = 0; r < t.rows.size(); ++r) rows_[i].push_back(MovePlan::build(moves_of_row(t, r), stride, chunks));
  }
}

// Copies across replicas go through a host block: all replicas' sources are read before any destination is written.
void Interpreter::build_replica_copies(unsigned chunks) {
  for (const tile::Stream& s : program_.streams)
    for (const Instruction& in : s.code) {
      if (in.op != Op::cross_replica || exchanges_[in.a].gathered_bytes > 0) continue;
      std::vector<tile::Move> gather, scatter;
      std::uint64_t at = 0;
      for (const tile::Move& m : program_.exchanges[in.a].receive) {
        tile::Move out = m, back = m;
        out.destination_tile = back.source_tile = TileId();
        out.destination = back.source = at;
        out.destination_step = back.source_step = m.bytes;
        gather.push_back(out);
        scatter.push_back(back);
        at += std::uint64_t{m.bytes} * m.count;
      }
      exchanges_[in.a].gather = MovePlan::build(gather, memory_.stride(), chunks);
      exchanges_[in.a].scatter = MovePlan::build(scatter, memory_.stride(), chunks);
      exchanges_[in.a].gathered_bytes = at;
    }
}

void Interpreter::build_rendezvous() {
  const auto streams = static_cast<unsigned>(program_.streams.size());
  for (unsigned r = 0; r < program_.replication; ++r)
    for (const tile::Meet& meet : program_.meets) {
      meets_.push_back(std::make_unique<Rendezvous>());
      for (const StreamId s : meet.streams) meets_.back()->slots.push_back(r * streams + s.value);
    }
  const auto across = [&](const std::vector<StreamId>& members) {
    replica_meets_.push_back(std::make_unique<Rendezvous>());
    for (unsigned r = 0; r < program_.replication; ++r)
      for (const StreamId s : members) replica_meets_.back()->slots.push_back(r * streams + s.value);
  };
  for (const tile::Meet& meet : program_.meets) across(meet.streams);
  for (unsigned s = 0; s < streams; ++s) across({StreamId(s)});
}

void Interpreter::find_shared_remote_buffers() {
  std::vector<StreamId> user(program_.remote_buffers.size());
  std::vector<bool> shared(user.size()), written(user.size());
  for (std::uint32_t s = 0; s < program_.streams.size(); ++s)
    for (const Instruction& in : program_.streams[s].code) {
      if (in.op != Op::transfer || program_.transfers[in.a].kind != tile::Transfer::Kind::remote) continue;
      const tile::Transfer& t = program_.transfers[in.a];
      if (user[t.index].valid() && user[t.index] != StreamId(s)) shared[t.index] = true;
      user[t.index] = StreamId(s);
      if (!t.to_device) written[t.index] = true;
    }
  ordered_remote_.resize(user.size());
  for (std::size_t b = 0; b < user.size(); ++b) ordered_remote_[b] = shared[b] && written[b];
}

bool Interpreter::is_host_step(const Instruction& in) const {
  switch (in.op) {
    case Op::host_call: case Op::print: case Op::error: case Op::error_if: return true;
    case Op::transfer: {
      const tile::Transfer& t = program_.transfers[in.a];
      return t.kind != tile::Transfer::Kind::remote || ordered_remote_[t.index];
    }
    default: return false;
  }
}

std::vector<char> Interpreter::reachable(const tile::Stream& stream, unsigned program) const {
  std::vector<char> reached(stream.code.size());
  std::vector<std::uint32_t> todo = {stream.entries[program]};
  while (!todo.empty()) {
    const std::uint32_t i = todo.back();
    todo.pop_back();
    if (reached[i]) continue;
    reached[i] = 1;
    switch (stream.code[i].op) {
      case Op::end: case Op::ret: break;
      case Op::jump: case Op::loop_next: todo.push_back(stream.code[i].target); break;
      case Op::repeat: case Op::branch_true: case Op::branch_false: case Op::branch_case: case Op::call:
        todo.push_back(stream.code[i].target);
        [[fallthrough]];
      default: todo.push_back(i + 1);
    }
  }
  return reached;
}

void Interpreter::check_connected(const Instruction& in) const {
  if (in.op == Op::transfer && program_.transfers[in.a].kind == tile::Transfer::Kind::fifo)
    ends_.check_connected(FifoId(program_.transfers[in.a].index));
  if (in.op != Op::host_call) return;
  for (const std::uint32_t t : {in.a, in.b})
    if (t < program_.transfers.size()) ends_.check_connected(HostFunctionId(program_.transfers[t].index));
}

}  // namespace pando::exec
