#include "cycles/cost_table.h"

#include <algorithm>

#include "cycles/links.h"
#include "tile/step.h"

namespace pando::cycles {

CostTable::CostTable(std::shared_ptr<const tile::Program> program, const Library& library, Options::Exchange exchange_model)
    : program_(std::move(program)), exchange_model_(exchange_model), counts_(*program_, library) {
  const tile::Program& p = *program_;
  for (std::size_t i = 0; i < library.size(); ++i) {
    const Codelet& c = library[CodeletId(static_cast<std::uint32_t>(i))];
    kinds_.push_back(c.kind);
    in_assembly_.push_back(c.in_assembly);
    uncounted_.push_back(!c.uncounted.empty() ? c.uncounted : "its module has no code that counts it");
  }
  stream_of_tile_.resize(p.machine.tiles());
  for (std::size_t s = 0; s < p.streams.size(); ++s) {
    for (TileId t : p.streams[s].tiles) stream_of_tile_[t.index()] = StreamId(static_cast<std::uint32_t>(s));
    totals_.emplace_back(p.streams[s].code.size());
    for (auto& total : totals_.back()) total.store(kUnknown, std::memory_order_relaxed);
    costs_.emplace_back(p.streams[s].code.size());
  }
  computes_.resize(p.computes.size());
  exchanges_.resize(p.exchanges.size());
  cross_replica_.resize(p.exchanges.size());
  transfers_.resize(p.transfers.size());
  find_gathers();
}

void CostTable::find_gathers() {
  const tile::Program& p = *program_;
  for (std::uint32_t s = 0; s < p.streams.size(); ++s)
    for (const tile::Instruction& i : p.streams[s].code)
      if (tile::row_of(i.op).work == tile::Work::exchange && p.exchanges[i.a].gathers.valid())
        gathered_.emplace_back(p.exchanges[i.a].gathers, StreamId(s));
  std::sort(gathered_.begin(), gathered_.end());
  gathered_.erase(std::unique(gathered_.begin(), gathered_.end()), gathered_.end());
  for (std::uint32_t c = 0; c < p.computes.size(); ++c)
    if (!p.computes[c].bound.empty()) bound_steps_.try_emplace({p.computes[c].compute_set, p.computes[c].stream}, tile::ComputeId(c));
}

std::vector<std::uint64_t> CostTable::cycles_of(const tile::ComputeStep& step, std::span<const std::uint64_t> counted) {
  std::vector<std::uint64_t> out;
  for (const tile::VertexGroup& g : step.groups)
    for (std::uint32_t i = 0; i < g.count; ++i) {
      const tile::VertexInstance& v = program_->vertices[g.first + i];
      std::uint64_t cycles = v.cycles;
      if (cycles == tile::kUnestimated && !counted.empty()) cycles = counted[out.size()];
      if (cycles == tile::kUnestimated) cycles = counts_.of(v, g.codelet);
      out.push_back(cycles);
    }
  return out;
}

ComputeCost CostTable::compute_of(const tile::ComputeStep& step, std::span<const std::uint64_t> counted) {
  return compute_cost(*program_, step, kinds_, program_->streams[step.stream.index()].tiles.size(), cycles_of(step, counted));
}

// Mostly it takes what it took before.
std::uint64_t CostTable::total_as_run(StreamId stream, std::uint32_t instruction, bool is_recorded, std::span<const std::uint64_t> counted,
                                      std::span<const std::uint64_t> blocks) {
  total(stream, instruction);
  std::lock_guard lock(mutex_);
  const tile::Instruction& i = program_->streams[stream.index()].code[instruction];
  std::unique_ptr<ComputeCost>& known = computes_[i.a];
  AsRun& run = as_run_[{stream.value, instruction}];
  InstructionCost& cost = costs_[stream.index()][instruction];
  if (!std::equal(counted.begin(), counted.end(), run.counted.begin(), run.counted.end())) {
    run.counted.assign(counted.begin(), counted.end());
    *known = compute_of(program_->computes[i.a], counted);
    cost.cycles.compute = known->cycles;
    cost.tile_balance = known->balance;
    cost.unestimated = known->unestimated;
  }
  if (is_recorded) {
    run.cycles += known->cycles;
    run.blocks.resize(blocks.size());
    for (std::size_t i = 0; i < blocks.size(); ++i) run.blocks[i] += blocks[i];
    run.codelets.resize(std::max(run.codelets.size(), known->codelets.size()));
    for (std::size_t k = 0; k < known->codelets.size(); ++k) {
      const CodeletShare& share = known->codelets[k];
      CodeletShare& sum = run.codelets[k];
      sum = {share.codelet, sum.instances + share.instances, sum.cycles + share.cycles, sum.counted + share.counted,
             sum.unestimated + share.unestimated};
    }
  }
  return cost.cycles.total();
}

const CostTable::AsRun* CostTable::as_run(StreamId stream, std::uint32_t instruction) const {
  const auto at = as_run_.find({stream.value, instruction});
  return at == as_run_.end() ? nullptr : &at->second;
}

std::string CostTable::source_of(const CodeletShare& share, std::size_t codelet) const {
  const bool estimated = share.counted + share.unestimated < share.instances;
  std::string out = estimated ? "estimated by the program" : "";
  const auto add = [&](const std::string& what) { out += (out.empty() ? "" : "; ") + what; };
  if (share.counted > 0) add(codelet < in_assembly_.size() && in_assembly_[codelet] ? "counted instructions" : "counted");
  if (share.unestimated > 0) add("not counted: " + (codelet < uncounted_.size() ? uncounted_[codelet] : "its code is not loaded"));
  return out;
}

void CostTable::forget_runs() { as_run_.clear(); }

std::uint64_t CostTable::compute_total(StreamId stream, std::uint32_t instruction) {
  std::lock_guard lock(mutex_);
  std::atomic<std::uint64_t>& total = totals_[stream.index()][instruction];
  if (std::uint64_t known = total.load(std::memory_order_relaxed); known != kUnknown) return known;
  InstructionCost& cost = costs_[stream.index()][instruction];
  cost = cost_of(stream, program_->streams[stream.index()].code[instruction]);
  total.store(cost.cycles.total(), std::memory_order_release);
  return cost.cycles.total();
}

InstructionCost CostTable::cost_of(StreamId stream, const tile::Instruction& instruction) {
  InstructionCost cost;
  bool moves_data = false;
  switch (tile::row_of(instruction.op).work) {
    case tile::Work::compute:
      add_compute(stream, instruction, cost);
      moves_data = cost.cycles.exchange > 0;
      break;
    case tile::Work::exchange:
    case tile::Work::cross_replica:
      add_exchange(stream, instruction, cost);
      moves_data = cost.cycles.exchange > 0 || cost.cycles.global_exchange > 0;
      break;
    case tile::Work::host_call: add_transfer(instruction.b, cost); [[fallthrough]];
    case tile::Work::transfer:
    case tile::Work::print:
    case tile::Work::error:
      add_transfer(instruction.a, cost);
      moves_data = true;
      break;
    case tile::Work::load_code:
      cost.cycles.host = load_code_cycles(*program_, stream, instruction.order);
      moves_data = true;
      break;
    case tile::Work::send:
    case tile::Work::receive:
      add_channel_step(stream, instruction, cost);
      moves_data = true;
      break;
    case tile::Work::nothing:
    case tile::Work::little:
    case tile::Work::undefine:
    case tile::Work::error_if:  // the program goes on: nothing was shown
      break;                    // nothing but the sync
  }
  cost.cycles.sync = sync_cycles(instruction, moves_data, cost.cycles.global_exchange > 0);
  return cost;
}

void CostTable::add_compute(StreamId stream, const tile::Instruction& instruction, InstructionCost& cost) {
  std::unique_ptr<ComputeCost>& known = computes_[instruction.a];
  const tile::ComputeStep& step = program_->computes[instruction.a];
  if (!known) known = std::make_unique<ComputeCost>(compute_of(step, {}));
  cost.cycles.compute = known->cycles;
  cost.tile_balance = known->balance;
  cost.vertices = known->vertices;
  cost.unestimated = known->unestimated;
  add_bound(stream, step, cost);
}

// Bound operands cost what receiving them costs (contract 12). Where the step has an exchange of its own, its phase has them.
void CostTable::add_bound(StreamId stream, const tile::ComputeStep& step, InstructionCost& cost) const {
  if (step.bound.empty() || std::binary_search(gathered_.begin(), gathered_.end(), std::pair(step.compute_set, stream))) return;
  const ExchangeCost bound = exchange_cost(*program_, {step.name, step.bound, {}, {}}, stream_of_tile_, exchange_model_);
  cost.cycles.exchange = bound.exchange;
  cost.received_bytes = bound.received[stream.index()];
}

tile::Exchange CostTable::with_bound(const tile::Exchange& exchange, std::span<const StreamId> streams) const {
  tile::Exchange all = exchange;
  for (const StreamId s : streams) {
    const auto step = bound_steps_.find({exchange.gathers, s});
    if (step == bound_steps_.end()) continue;
    const std::vector<tile::Move>& bound = program_->computes[step->second.index()].bound;
    all.receive.insert(all.receive.end(), bound.begin(), bound.end());
  }
  if (all.receive.size() == exchange.receive.size()) return all;
  std::sort(all.receive.begin(), all.receive.end(), [](const tile::Move& a, const tile::Move& b) {
    return std::pair(a.destination_tile, a.destination) < std::pair(b.destination_tile, b.destination);
  });
  return all;
}

void CostTable::add_exchange(StreamId stream, const tile::Instruction& instruction, InstructionCost& cost) {
  const tile::Exchange& exchange = program_->exchanges[instruction.a];
  bool across = tile::row_of(instruction.op).work == tile::Work::cross_replica;
  std::unique_ptr<ExchangeCost>& known = (across ? cross_replica_ : exchanges_)[instruction.a];
  if (!known && !across && exchange.gathers.valid()) {
    std::span<const StreamId> members(&stream, 1);
    if (instruction.sync.valid()) members = program_->syncs[instruction.sync.index()].streams;
    known = std::make_unique<ExchangeCost>(exchange_cost(*program_, with_bound(exchange, members), stream_of_tile_, exchange_model_));
  }
  if (!known)
    known = std::make_unique<ExchangeCost>(
        across ? cross_replica_cost(*program_, exchange, program_->replica_maps[instruction.b], stream_of_tile_)
               : exchange_cost(*program_, exchange, stream_of_tile_, exchange_model_));
  cost.cycles.exchange = known->exchange;
  cost.cycles.local_copy = known->local_copy;
  cost.cycles.global_exchange = known->global_exchange;
  cost.received_bytes = known->received[stream.index()];
}

// With a capacity the sender pays for its slot and for the way across, the receiver for its tensor. Without, both pay for the way across:
// that of the dearest pair of tensors, whichever meet.
void CostTable::add_channel_step(StreamId stream, const tile::Instruction& instruction, InstructionCost& cost) {
  const tile::Program& p = *program_;
  const tile::Channel& c = p.channels[instruction.a];
  const auto price = [&](tile::ExchangeId id) { return exchange_cost(p, p.exchanges[id.index()], stream_of_tile_, exchange_model_); };
  const auto add = [&](const ExchangeCost& x) {
    cost.cycles.exchange += x.exchange;
    cost.cycles.local_copy += x.local_copy;
    cost.cycles.global_exchange += x.global_exchange;
    cost.received_bytes += x.received[stream.index()];
  };
  if (c.capacity == 0) {
    std::optional<ExchangeCost> dearest;
    const auto total = [](const ExchangeCost& x) { return x.exchange + x.local_copy + x.global_exchange; };
    for (const tile::ExchangeId id : c.direct)
      if (ExchangeCost x = price(id); !dearest || total(x) > total(*dearest)) dearest = std::move(x);
    if (dearest) add(*dearest);
  } else if (tile::row_of(instruction.op).work == tile::Work::send) {
    add(price(c.store[instruction.b]));
    add(price(c.cross));
  } else {
    add(price(c.take[instruction.b]));
    cost.received_bytes += c.bytes;
  }
}

void CostTable::add_transfer(std::uint32_t id, InstructionCost& cost) {
  if (id >= transfers_.size()) return;  // a host call without inputs or outputs
  std::optional<std::uint64_t>& known = transfers_[id];
  if (!known) known = transfer_cycles(*program_, program_->transfers[id]);
  cost.cycles.host += *known;
}

// Tiles sync before data move between them and where streams sync; IPUs sync where the streams that sync are on several. What comes over
// links has no fixed time of arrival: a second sync of the IPUs says that all of it is there.
std::uint64_t CostTable::sync_cycles(const tile::Instruction& instruction, bool moves_data, bool crosses_ipus) const {
  const tile::Program& p = *program_;
  bool syncs = instruction.sync.valid() && p.syncs[instruction.sync.index()].streams.size() > 1;
  bool across_replicas = tile::row_of(instruction.op).work == tile::Work::cross_replica;
  if (!moves_data && !syncs) return 0;
  unsigned low = ~0u, high = 0;
  if (instruction.sync.valid())
    for (StreamId s : p.syncs[instruction.sync.index()].streams) {
      low = std::min(low, p.streams[s.index()].ipu.value);
      high = std::max(high, p.streams[s.index()].ipu.value);
    }
  // What goes across waits for both ends; with a capacity it is the sender who sees to that.
  const tile::Work work = tile::row_of(instruction.op).work;
  if (work == tile::Work::send || work == tile::Work::receive) {
    const tile::Channel& c = p.channels[instruction.a];
    if (work == tile::Work::send || c.capacity == 0)
      for (const StreamId s : {c.sender, c.receiver}) {
        low = std::min(low, p.streams[s.index()].ipu.value);
        high = std::max(high, p.streams[s.index()].ipu.value);
      }
  }
  unsigned span = across_replicas ? p.replication * p.machine.ipus : low > high ? 1 : high - low + 1;
  return p.machine.sync_cycles_internal + (crosses_ipus ? 2 : 1) * global_sync_cycles(p.machine, span);
}

}  // namespace pando::cycles
