#include <algorithm>
#include <numeric>
#include <tuple>

#include "cycles/links.h"
#include "cycles/step_cost.h"

namespace pando::cycles {

namespace {

constexpr std::uint64_t kPairSharedWords = 64;  // the least that a pair of tiles receives together at double rate
constexpr std::uint64_t kSimpleFixed = 100;     // poplibs' constant for a small exchange

std::uint64_t divide_up(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }

// A move whose source does not step is received once and written often.
std::uint64_t runs_received(const tile::Move& m) { return m.source_step == 0 ? 1 : m.count; }
// A word is what the fabric moves: every run takes whole ones.
std::uint64_t words_of(const tile::Move& m) { return runs_received(m) * divide_up(m.bytes, 4); }

auto source_of(const tile::Move& m) { return std::tuple(m.source_tile, m.source, m.bytes, runs_received(m), m.source_step); }

// What the tiles from `first` on do in one exchange.
struct TileTraffic {
  std::uint64_t received_words = 0;  // after pair sharing
  std::uint64_t sent_words = 0;
  std::uint64_t copy_cycles = 0;
  bool receives_locally = false;
};
struct Traffic {
  std::uint32_t first = 0;
  std::vector<TileTraffic> tiles;
  TileTraffic& operator[](TileId t) { return tiles[t.value - first]; }
};

Traffic traffic_over(const tile::Exchange& exchange) {
  std::uint32_t low = ~0u, high = 0;
  for (const auto* list : {&exchange.receive, &exchange.arrange})
    for (const tile::Move& m : *list) {
      low = std::min({low, m.source_tile.value, m.destination_tile.value});
      high = std::max({high, m.source_tile.value, m.destination_tile.value});
    }
  Traffic t;
  if (low > high) return t;
  t.first = low;
  t.tiles.resize(high - low + 1);
  return t;
}

// One run within a tile. Loads and stores of 64 bits are aligned: a run whose two places differ modulo 8 goes word by word, and a word
// takes a load and a store, which share the main pipe.
std::uint64_t run_cycles(const Machine& machine, std::uint64_t from, std::uint64_t to, std::uint32_t bytes) {
  const std::uint64_t whole = divide_up(bytes, machine.memcpy_bytes_per_cycle);
  return (from - to) % 8 == 0 ? whole : std::max(whole, 2 * divide_up(bytes, 4));
}

void add_local(const Machine& machine, const tile::Move& m, TileTraffic& tile) {
  // Runs repeat their places modulo 8 after 8 at most.
  const std::uint32_t kinds = std::min(m.count, 8u);
  for (std::uint32_t k = 0; k < kinds; ++k) {
    const std::uint64_t runs = (m.count - k + kinds - 1) / kinds;
    tile.copy_cycles += runs * run_cycles(machine, m.source + k * static_cast<std::uint64_t>(m.source_step),
                                          m.destination + k * static_cast<std::uint64_t>(m.destination_step), m.bytes);
  }
}

void count_local_copies(const Machine& machine, const tile::Exchange& exchange, Traffic& traffic) {
  for (const tile::Move& m : exchange.receive) {
    if (m.source_tile != m.destination_tile) continue;
    TileTraffic& tile = traffic[m.destination_tile];
    if (!tile.receives_locally) tile.copy_cycles += machine.local_copy_call_cycles;
    tile.receives_locally = true;
    add_local(machine, m, tile);
  }
  TileId current;
  for (const tile::Move& m : exchange.arrange) {
    TileTraffic& tile = traffic[m.destination_tile];
    if (m.destination_tile != current) tile.copy_cycles += machine.local_copy_call_cycles;
    current = m.destination_tile;
    add_local(machine, m, tile);
  }
}

// Moves that leave their tile, by source; those with `to_ipu` equal and the same source bytes are one send.
struct Send {
  TileId tile;
  IpuId to_ipu;
  std::uint64_t begin = 0, end = 0;  // source bytes; not contiguous: end - begin is the number of runs
  std::uint32_t run_bytes = 0;       // 0: contiguous
  std::int64_t step = 0;
  std::uint64_t words = 0;  // of one that is not contiguous
  auto key() const { return std::tuple(tile, to_ipu, run_bytes != 0, begin, end, run_bytes, step); }
};

Send send_of(const Machine& machine, const tile::Move& m) {
  std::uint64_t runs = runs_received(m);
  bool contiguous = runs == 1 || m.source_step == static_cast<std::int64_t>(m.bytes);
  Send s{m.source_tile, machine.ipu_of(m.destination_tile), m.source, m.source + runs};
  if (contiguous) {
    // Whole words, so that joining two sends never makes them fewer.
    s.begin = m.source / 4 * 4;
    s.end = divide_up(m.source + runs * m.bytes, 4) * 4;
    return s;
  }
  s.run_bytes = m.bytes;
  s.step = m.source_step;
  s.words = words_of(m);
  return s;
}

// By key. Of a transpose there are millions of sends: those of one tile fit into a near cache.
void sort_sends(std::vector<Send>& sends) {
  const auto less = [](const Send& a, const Send& b) { return a.key() < b.key(); };
  constexpr std::size_t kFew = 1u << 14;
  if (sends.size() < kFew) return std::sort(sends.begin(), sends.end(), less);
  const auto by_tile = [](const Send& a, const Send& b) { return a.tile < b.tile; };
  const std::uint32_t first = std::min_element(sends.begin(), sends.end(), by_tile)->tile.value;
  const std::uint32_t last = std::max_element(sends.begin(), sends.end(), by_tile)->tile.value;
  std::vector<std::size_t> end(last - first + 2, 0);
  for (const Send& s : sends) ++end[s.tile.value - first + 1];
  std::partial_sum(end.begin(), end.end(), end.begin());
  std::vector<Send> sorted(sends.size());
  for (const Send& s : sends) sorted[end[s.tile.value - first]++] = s;
  for (std::size_t begin = 0, tile = 0; tile + 1 < end.size(); begin = end[tile++])
    std::sort(sorted.begin() + static_cast<std::ptrdiff_t>(begin), sorted.begin() + static_cast<std::ptrdiff_t>(end[tile]), less);
  sends = std::move(sorted);
}

// Each byte that a tile sends counts once however many receive it: overlapping contiguous sends are joined, equal strided ones
// are dropped. Calls emit(send, words).
template <class Emit>
void for_each_send(std::vector<Send>& sends, Emit emit) {
  sort_sends(sends);
  for (std::size_t i = 0; i < sends.size();) {
    Send s = sends[i];
    std::size_t next = i + 1;
    if (s.run_bytes != 0) {
      while (next < sends.size() && sends[next].key() == s.key()) ++next;
      emit(s, s.words);
    } else {
      while (next < sends.size() && sends[next].tile == s.tile && sends[next].to_ipu == s.to_ipu && sends[next].run_bytes == 0 &&
             sends[next].begin <= s.end)
        s.end = std::max(s.end, sends[next++].end);
      emit(s, divide_up(s.end - s.begin, 4));
    }
    i = next;
  }
}

// Words that both lists receive from the same sources, in pieces big enough to share the pair's double width.
std::uint64_t shared_words(std::span<const tile::Move*> a, std::span<const tile::Move*> b) {
  auto by_source = [](const tile::Move* x, const tile::Move* y) { return source_of(*x) < source_of(*y); };
  // Smaller pieces are never shared, and a piece is found by its size, too.
  const auto big = [](std::span<const tile::Move*> list) {
    const auto end = std::partition(list.begin(), list.end(), [](const tile::Move* m) { return words_of(*m) >= kPairSharedWords; });
    return list.first(static_cast<std::size_t>(end - list.begin()));
  };
  a = big(a);
  b = big(b);
  std::sort(a.begin(), a.end(), by_source);
  std::sort(b.begin(), b.end(), by_source);
  std::uint64_t words = 0;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (by_source(a[i], b[j]))
      ++i;
    else if (by_source(b[j], a[i]))
      ++j;
    else {
      words += words_of(*a[i]);
      ++i, ++j;
    }
  }
  return words;
}

// `moves`: within one IPU, sorted by destination tile.
void share_between_pairs(const Machine& machine, std::vector<const tile::Move*>& moves, Traffic& traffic) {
  if (!machine.exchange_bus_sharing || machine.tiles_per_shared_exchange_bus != 2) return;
  for (std::size_t i = 0; i < moves.size();) {
    TileId even = moves[i]->destination_tile;
    std::size_t middle = i, end;
    while (middle < moves.size() && moves[middle]->destination_tile == even) ++middle;
    for (end = middle; end < moves.size() && moves[end]->destination_tile == moves[middle]->destination_tile;) ++end;
    bool pair = even.value % 2 == 0 && middle < moves.size() && moves[middle]->destination_tile.value == even.value + 1;
    if (!pair) {
      i = middle;
      continue;
    }
    std::uint64_t shared = shared_words(std::span(moves).subspan(i, middle - i), std::span(moves).subspan(middle, end - middle));
    traffic[even].received_words -= shared / 2;
    traffic[TileId(even.value + 1)].received_words -= shared / 2;
    i = end;
  }
}

std::uint64_t busiest_words(const Traffic& traffic) {
  std::uint64_t words = 0;
  for (const TileTraffic& t : traffic.tiles) words = std::max({words, t.received_words, t.sent_words});
  return words;
}

std::uint64_t word_cycles(const Machine& machine, std::uint64_t words) { return divide_up(words * 4, machine.exchange_bytes_per_cycle); }

void reset_words(Traffic& traffic) {
  for (TileTraffic& t : traffic.tiles) t.received_words = t.sent_words = 0;
}

std::uint64_t internal_cycles(const Machine& machine, std::vector<const tile::Move*>& moves, Options::Exchange model, Traffic& traffic) {
  if (moves.empty()) return 0;
  std::vector<Send> sends;
  sends.reserve(moves.size());
  std::uint64_t landing = 0;
  for (const tile::Move* m : moves) {
    traffic[m->destination_tile].received_words += words_of(*m);
    sends.push_back(send_of(machine, *m));
    landing = std::max(landing, landing_cycles(machine, m->source_tile, m->destination_tile));
  }
  for_each_send(sends, [&](const Send& s, std::uint64_t words) { traffic[s.tile].sent_words += words; });
  share_between_pairs(machine, moves, traffic);
  std::uint64_t fixed = model == Options::Exchange::simple ? kSimpleFixed : landing;
  return fixed + word_cycles(machine, busiest_words(traffic));
}

// The links and the tiles at both ends work at once: the slower decides. `ipu(side, tile)` numbers IPUs over all replicas.
std::uint64_t global_cycles(const Machine& machine, const std::vector<const tile::Move*>& moves, Traffic& traffic) {
  if (moves.empty()) return 0;
  reset_words(traffic);
  std::vector<Send> sends;
  for (const tile::Move* m : moves) {
    traffic[m->destination_tile].received_words += words_of(*m);
    sends.push_back(send_of(machine, *m));
  }
  std::vector<std::uint64_t> bytes(std::size_t{machine.ipus} * machine.ipus);
  for_each_send(sends, [&](const Send& s, std::uint64_t words) {
    traffic[s.tile].sent_words += words;
    bytes[machine.ipu_of(s.tile).index() * machine.ipus + s.to_ipu.index()] += 4 * words;
  });
  std::vector<Flow> flows;
  for (unsigned from = 0; from < machine.ipus; ++from)
    for (unsigned to = 0; to < machine.ipus; ++to)
      if (std::uint64_t n = bytes[std::size_t{from} * machine.ipus + to]) flows.push_back({from, to, n});
  return std::max(link_cycles(machine, flows), word_cycles(machine, busiest_words(traffic)));
}

std::uint64_t slowest_copy(const Traffic& traffic) {
  std::uint64_t cycles = 0;
  for (const TileTraffic& t : traffic.tiles) cycles = std::max(cycles, t.copy_cycles);
  return cycles;
}

void count_received(const tile::Program& program, const tile::Exchange& exchange, std::span<const StreamId> stream_of_tile,
                    bool across_replicas, ExchangeCost& cost) {
  cost.received.assign(program.streams.size(), 0);
  for (const tile::Move& m : exchange.receive) {
    if (m.source_tile == m.destination_tile && !across_replicas) continue;
    StreamId s = stream_of_tile[m.destination_tile.index()];
    if (s.valid()) cost.received[s.index()] += runs_received(m) * m.bytes;
  }
}

}  // namespace

std::uint64_t landing_cycles(const Machine& machine, TileId source, TileId destination) {
  std::uint64_t cycles = machine.exchange_landing_cycles;
  if (machine.fabric_columns == 0) return cycles;
  // Tiles lie on a snake of columns: up one, down the next. A row costs two cycles.
  std::uint32_t column_tiles = machine.fabric_rows * machine.fabric_lanes;
  auto column_of = [&](TileId t) { return t.value % machine.tiles_per_ipu / column_tiles; };
  std::uint32_t column = column_of(destination);
  std::uint32_t row = destination.value % machine.tiles_per_ipu % column_tiles / machine.fabric_lanes;
  if (column % 2 == 1) row = machine.fabric_rows - 1 - row;
  cycles += 2 * row;
  // The term of the source is known only by what all pairs of Mk2 add up to: mean 6.6 and most 68 cycles, none for neighbours.
  // A line in the distance of the columns that starts half-way across gives the same three numbers.
  std::uint32_t distance = column_of(source) > column ? column_of(source) - column : column - column_of(source);
  return cycles + (19 * distance > 149 ? (19 * distance - 149) / 2 : 0);
}

ExchangeCost exchange_cost(const tile::Program& program, const tile::Exchange& exchange, std::span<const StreamId> stream_of_tile,
                           Options::Exchange model) {
  const Machine& machine = program.machine;
  ExchangeCost cost;
  count_received(program, exchange, stream_of_tile, false, cost);
  Traffic traffic = traffic_over(exchange);
  std::vector<const tile::Move*> internal, global;
  internal.reserve(exchange.receive.size());
  for (const tile::Move& m : exchange.receive) {
    if (m.source_tile == m.destination_tile) continue;
    (machine.ipu_of(m.source_tile) == machine.ipu_of(m.destination_tile) ? internal : global).push_back(&m);
  }
  count_local_copies(machine, exchange, traffic);
  cost.local_copy = slowest_copy(traffic);
  cost.crosses_tiles = !internal.empty() || !global.empty();
  cost.crosses_ipus = !global.empty();
  cost.exchange = internal_cycles(machine, internal, model, traffic);
  cost.global_exchange = global_cycles(machine, global, traffic);
  return cost;
}

ExchangeCost cross_replica_cost(const tile::Program& program, const tile::Exchange& exchange,
                                std::span<const std::pair<std::uint32_t, std::uint32_t>> replicas,
                                std::span<const StreamId> stream_of_tile) {
  const Machine& machine = program.machine;
  ExchangeCost cost;
  count_received(program, exchange, stream_of_tile, true, cost);
  cost.crosses_tiles = cost.crosses_ipus = !exchange.receive.empty();
  std::vector<std::uint64_t> bytes(std::size_t{machine.ipus} * machine.ipus);
  Traffic traffic = traffic_over(exchange);
  for (const tile::Move& m : exchange.receive) {
    traffic[m.destination_tile].received_words += words_of(m);
    traffic[m.source_tile].sent_words += words_of(m);
    bytes[machine.ipu_of(m.source_tile).index() * machine.ipus + machine.ipu_of(m.destination_tile).index()] += 4 * words_of(m);
  }
  std::vector<Flow> flows;
  for (auto [from, to] : replicas)
    for (unsigned a = 0; a < machine.ipus; ++a)
      for (unsigned b = 0; b < machine.ipus; ++b)
        if (std::uint64_t n = bytes[std::size_t{a} * machine.ipus + b])
          flows.push_back({from * machine.ipus + a, to * machine.ipus + b, n});
  cost.global_exchange = std::max(link_cycles(machine, flows), word_cycles(machine, busiest_words(traffic)));
  tile::Exchange arrange{exchange.name, {}, exchange.arrange};
  count_local_copies(machine, arrange, traffic);
  cost.local_copy = slowest_copy(traffic);
  return cost;
}

}  // namespace pando::cycles
