// Random streams that send each other blocks: executed for several numbers of threads, and compared with a model of queues that is stepped
// by hand. Many of them wait for each other in the end; then the error has to come, whatever the number of threads. The same streams are
// devices of ranks, too: their channels have to do what those between tiles do.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <deque>
#include <iostream>
#include <thread>

#include "arguments.h"
#include "base/error.h"
#include "codelet/hand_made.h"
#include "compile/compile.h"
#include "exec/runner.h"
#include "exec/transports/channels.h"
#include "exec/transports/in_process.h"
#include "graph/graph.h"
#include "poplar/exceptions.hpp"
#include "random.h"

namespace pando::fuzz {
namespace {

using namespace graph;
using Numbers = std::vector<std::uint32_t>;

constexpr unsigned kTiles = 3;  // of an IPU

struct AbsorbObject {
  VectorEdge x, sum;
};

std::uint32_t absorbed(std::uint32_t sum, std::uint32_t x) { return (sum ^ x) * 2654435761u + 17; }

bool absorb(char* first, std::uint64_t stride, std::uint64_t count, std::uint64_t*) {
  for (; count > 0; --count, first += stride) {
    const auto* o = reinterpret_cast<const AbsorbObject*>(first);
    auto* const sum = static_cast<std::uint32_t*>(o->sum.data);
    for (std::uint64_t i = 0; i < o->sum.size; ++i) sum[i] = absorbed(sum[i], static_cast<const std::uint32_t*>(o->x.data)[i]);
  }
  return true;
}

Codelet absorb_codelet() {
  Codelet c = hand_made_codelet<AbsorbObject>("Absorb",
                                              {hand_made_field("x", FieldKind::input, FieldShape::vector, ElementType::unsigned_int),
                                               hand_made_field("sum", FieldKind::inout, FieldShape::vector, ElementType::unsigned_int)},
                                              absorb);
  c.code_bytes = 64;
  c.stack_bytes = 64;
  return c;
}

Machine machine(unsigned ipus) {
  Machine m = *find_machine("tiny4");
  m.ipus = ipus;
  m.tiles_per_ipu = kTiles;
  return m;
}

// One step, or a loop of some.
struct Step {
  std::size_t channel = 0;
  bool sends = false;
  std::size_t order = 0;    // of the elements: index into orders_
  std::uint64_t count = 0;  // a loop
  std::vector<Step> body;
};

class Attempt {
 public:
  explicit Attempt(std::uint64_t seed)
      : random_(seed), ipus_(static_cast<unsigned>(random_.between(2, 4))), n_(random_.between(1, 12)), graph_(machine(ipus_), 1) {
    graph_.library().add_builtin("fuzz", {absorb_codelet()});
    for (int i = 0; i < 3; ++i) orders_.push_back(some_order());
    for (unsigned i = 0; i < ipus_; ++i) {
      sums_.push_back(variable("sum", i));
      inboxes_.push_back(variable("inbox", i));
      Numbers start(n_);
      for (std::uint32_t& x : start) x = static_cast<std::uint32_t>(random_.next());
      graph_.set_initial_value(inboxes_[i], std::string(4 * n_, '\0'));
      graph_.set_initial_value(sums_[i], std::string(reinterpret_cast<const char*>(start.data()), 4 * n_));
      graph_.add_host_handle(fmt::format("sum{}", i), sums_[i], true, false);
      model_.push_back(start);
      absorbs_.push_back(absorb_step(i));
    }
    const std::size_t channels = random_.between(1, 5);
    for (std::size_t c = 0; c < channels; ++c) {
      const auto from = static_cast<unsigned>(random_.below(ipus_)),
                 to = static_cast<unsigned>((from + 1 + random_.below(ipus_ - 1)) % ipus_);
      const auto capacity = static_cast<unsigned>(random_.below(4));
      ends_.push_back({from, to, capacity});
      graph_.add_channel({fmt::format("k{}", c), ElementType::unsigned_int, n_, capacity});
    }
    queues_.resize(channels);
    // Each channel is used at both ends.
    for (std::size_t c = 0; c < channels; ++c) steps_.insert(steps_.end(), {{c, true, random_.below(3)}, {c, false, random_.below(3)}});
    // Half of the programs keep senders before receivers; the others are shuffled, and many stop.
    const bool is_ordered = random_.chance(50);
    for (auto n = random_.below(12); n > 0; --n) steps_.push_back(some_step(is_ordered));
    if (!is_ordered)
      for (std::size_t i = steps_.size(); i > 1; --i) std::swap(steps_[i - 1], steps_[random_.below(i)]);
  }

  std::string run(std::uint64_t& stopped) {
    const std::vector<ProgramPtr> programs = {make_program(Sequence{lowered(steps_)})};
    compile::Options options;
    options.validate = true;
    options.merge_moves = random_.chance(70);
    const compile::Result result = compile::compile(graph_, programs, options);
    graph_.library().link("");
    const std::vector<Numbers> start = model_;
    const bool ends = simulate();
    stopped += !ends;
    std::vector<Numbers> once = model_;
    // A deadlock of ranks takes a while to be found.
    if (random_.chance(25)) {
      const unsigned ranks = 1 + static_cast<unsigned>(random_.below(ipus_));
      if (const std::string wrong = compare_ranks(ranks, ends, start, once); !wrong.empty())
        return fmt::format("{} ranks: {}", ranks, wrong);
    }
    const bool ends_again = ends && simulate();
    for (const unsigned threads : {1u, 2u, 4u}) {
      exec::Options run_options;
      run_options.threads = threads;
      exec::Runner runner(result.program, graph_.library(), run_options);
      if (const std::string wrong = compare(runner, ends, once); !wrong.empty()) return fmt::format("{} threads: {}", threads, wrong);
      if (!ends) continue;
      if (const std::string wrong = compare(runner, ends_again, model_); !wrong.empty())
        return fmt::format("{} threads, second run: {}", threads, wrong);
    }
    return "";
  }

 private:
  struct Ends {
    unsigned from = 0, to = 0, capacity = 0;
  };
  struct Flat {
    std::size_t channel;
    bool sends;
    std::size_t order;
  };

  std::vector<std::size_t> some_order() {
    std::vector<std::size_t> order(n_);
    for (std::size_t i = 0; i < n_; ++i) order[i] = i;
    if (random_.chance(30)) std::reverse(order.begin(), order.end());
    std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(random_.below(n_)), order.end());
    return order;
  }
  View ordered(const View& v, std::size_t order) const {
    std::vector<View> parts;
    for (const std::size_t i : orders_[order]) parts.push_back(v.slice(i, i + 1, 0));
    return View::concat(parts, 0);
  }
  View variable(const char* name, unsigned ipu) {
    const View v = graph_.view(graph_.add_variable(ElementType::unsigned_int, {n_}, fmt::format("{}{}", name, ipu)));
    for (std::size_t i = 0; i < n_; ++i)
      graph_.set_tile_mapping(v.slice(i, i + 1, 0), TileId(static_cast<std::uint32_t>(ipu * kTiles + random_.below(kTiles))));
    return v;
  }
  ProgramPtr absorb_step(unsigned ipu) {
    const ComputeSetId set = graph_.add_compute_set(fmt::format("absorb{}", ipu));
    for (std::size_t i = 0; i < n_; ++i) {
      const VertexId v = graph_.add_vertex(set, "Absorb");
      graph_.set_tile_mapping(v, TileId(static_cast<std::uint32_t>(ipu * kTiles + random_.below(kTiles))));
      graph_.connect({v, "x", {}}, inboxes_[ipu].slice(i, i + 1, 0));
      graph_.connect({v, "sum", {}}, sums_[ipu].slice(i, i + 1, 0));
    }
    return make_program(Execute{set, {}});
  }

  Step some_step(bool is_ordered) {
    const std::size_t c = random_.below(ends_.size());
    if (!random_.chance(30))
      return is_ordered ? Step{0, false, 0, 1, {{c, true, random_.below(3)}, {c, false, random_.below(3)}}}
                        : Step{c, random_.chance(50), random_.below(3)};
    Step loop{0, false, 0, random_.between(1, 4), {}};
    for (auto n = random_.between(1, 4); n > 0; --n) {
      const std::size_t k = random_.below(ends_.size());
      loop.body.insert(loop.body.end(), {{k, true, random_.below(3)}, {k, false, random_.below(3)}});
    }
    return loop;
  }

  std::vector<ProgramPtr> lowered(const std::vector<Step>& steps) const {
    std::vector<ProgramPtr> out;
    for (const Step& s : steps) {
      const ChannelId channel(static_cast<std::uint32_t>(s.channel));
      if (s.count > 0) {
        out.push_back(make_program(Repeat{s.count, make_program(Sequence{lowered(s.body)})}));
      } else if (s.sends) {
        out.push_back(make_program(Send{channel, ordered(sums_[ends_[s.channel].from], s.order)}));
        out.push_back(absorbs_[ends_[s.channel].from]);  // the sum goes on to change
      } else {
        out.push_back(make_program(Receive{channel, ordered(inboxes_[ends_[s.channel].to], s.order)}));
        out.push_back(absorbs_[ends_[s.channel].to]);
      }
    }
    return out;
  }

  // What one stream does, loops unrolled.
  void flatten(const std::vector<Step>& steps, unsigned ipu, std::vector<Flat>& out) const {
    for (const Step& s : steps) {
      for (std::uint64_t i = 0; i < s.count; ++i) flatten(s.body, ipu, out);
      if (s.count == 0 && (s.sends ? ends_[s.channel].from : ends_[s.channel].to) == ipu) out.push_back({s.channel, s.sends, s.order});
    }
  }

  void absorb_in_model(unsigned ipu) {
    for (std::size_t i = 0; i < n_; ++i) model_[ipu][i] = absorbed(model_[ipu][i], inbox_model_[ipu][i]);
  }
  void give(const Flat& s) {
    Numbers block(n_);
    for (std::size_t i = 0; i < n_; ++i) block[i] = model_[ends_[s.channel].from][orders_[s.order][i]];
    queues_[s.channel].push_back(std::move(block));
    absorb_in_model(ends_[s.channel].from);
  }
  void take(const Flat& s) {
    const unsigned to = ends_[s.channel].to;
    for (std::size_t i = 0; i < n_; ++i) inbox_model_[to][orders_[s.order][i]] = queues_[s.channel].front()[i];
    queues_[s.channel].pop_front();
    absorb_in_model(to);
  }

  // Steps whoever can go on. True: all came to their ends.
  bool simulate() {
    inbox_model_.resize(ipus_, Numbers(n_, 0));
    std::vector<std::vector<Flat>> code(ipus_);
    std::vector<std::size_t> at(ipus_, 0);
    for (unsigned i = 0; i < ipus_; ++i) flatten(steps_, i, code[i]);
    for (bool goes_on = true; goes_on;) {
      goes_on = false;
      for (unsigned i = 0; i < ipus_; ++i)
        while (at[i] < code[i].size()) {
          const Flat& s = code[i][at[i]];
          const Ends& e = ends_[s.channel];
          if (e.capacity == 0) {
            const unsigned other = s.sends ? e.to : e.from;
            if (at[other] == code[other].size()) break;
            const Flat& theirs = code[other][at[other]];
            if (theirs.channel != s.channel || theirs.sends == s.sends) break;
            give(s.sends ? s : theirs);
            take(s.sends ? theirs : s);
            ++at[other];
          } else if (s.sends) {
            if (queues_[s.channel].size() == e.capacity) break;
            give(s);
          } else {
            if (queues_[s.channel].empty()) break;
            take(s);
          }
          ++at[i];
          goes_on = true;
        }
    }
    for (unsigned i = 0; i < ipus_; ++i)
      if (at[i] < code[i].size()) return false;
    return true;
  }

  std::string compare(exec::Runner& runner, bool ends, const std::vector<Numbers>& expected) const {
    std::string error;
    try {
      runner.run(0);
    } catch (const poplar::control_program_error& e) { error = e.what(); }
    if (ends != error.empty()) return ends ? "stopped: " + error : "came to its end, which it cannot";
    if (!ends && error.find("[streams-wait]") == std::string::npos) return "another error: " + error;
    for (unsigned i = 0; i < ipus_; ++i) {  // also where it stopped: the streams come as far as they can
      Numbers sum(n_);
      runner.read(fmt::format("sum{}", i), sum.data(), sum.data() + n_);
      if (sum != expected[i]) return fmt::format("IPU {} has other numbers", i);
    }
    return "";
  }

  // The same streams as devices, dealt out to ranks of this process.
  std::string compare_ranks(unsigned ranks, bool ends, std::vector<Numbers> sums, const std::vector<Numbers>& expected) const {
    std::vector<exec::Channel> channels;
    for (std::size_t c = 0; c < ends_.size(); ++c) {
      const Ends& e = ends_[c];
      channels.push_back({fmt::format("k{}", c), static_cast<std::int32_t>(e.from), static_cast<std::int32_t>(e.to), e.from % ranks,
                          e.to % ranks, 4 * n_, e.capacity});
    }
    exec::Channels::Options options;
    options.ask_after = std::chrono::milliseconds(5);
    const auto transports = exec::in_process_transports(ranks);
    std::vector<std::unique_ptr<exec::Channels>> of_rank;
    for (const auto& t : transports) of_rank.push_back(std::make_unique<exec::Channels>(channels, *t, options));
    for (unsigned r = 0; r < ranks; ++r) transports[r]->start([&, r](exec::Packet p) { of_rank[r]->deliver(std::move(p)); });
    std::vector<std::string> errors(ipus_);
    std::vector<std::thread> devices;
    for (unsigned i = 0; i < ipus_; ++i) {
      devices.emplace_back([&, i] {
        try {
          run_device(i, *of_rank[i % ranks], sums[i]);
          of_rank[i % ranks]->ended(static_cast<std::int32_t>(i));
        } catch (const exec::RunFailed& e) { errors[i] = e.what(); }
      });
    }
    for (std::thread& t : devices) t.join();
    for (const auto& t : transports) t->start({});
    for (const std::string& error : errors) {
      if (error.empty()) continue;
      if (ends) return "stopped: " + error;
      return error.find("[deadlock]") == std::string::npos ? "another error: " + error : "";
    }
    if (!ends) return "came to its end, which it cannot";
    return sums == expected ? "" : "a device has other numbers";
  }
  void run_device(unsigned device, exec::Channels& channels, Numbers& sum) const {
    std::vector<Flat> code;
    flatten(steps_, device, code);
    Numbers inbox(n_, 0), block(n_);
    for (const Flat& s : code) {
      const auto& order = orders_[s.order];
      if (s.sends) {
        for (std::size_t i = 0; i < n_; ++i) block[i] = sum[order[i]];
        channels.send(static_cast<std::uint32_t>(s.channel), block.data());
      } else {
        channels.receive(static_cast<std::uint32_t>(s.channel), block.data());
        for (std::size_t i = 0; i < n_; ++i) inbox[order[i]] = block[i];
      }
      for (std::size_t i = 0; i < n_; ++i) sum[i] = absorbed(sum[i], inbox[i]);
    }
  }

  Random random_;
  unsigned ipus_;
  std::size_t n_;
  Graph graph_;
  std::vector<std::vector<std::size_t>> orders_;
  std::vector<View> sums_, inboxes_;
  std::vector<ProgramPtr> absorbs_;
  std::vector<Ends> ends_;
  std::vector<Step> steps_;
  std::vector<Numbers> model_, inbox_model_;
  std::vector<std::deque<Numbers>> queues_;
};

int run(const Arguments& arguments) {
  const auto begin = std::chrono::steady_clock::now();
  std::uint64_t done = 0, stopped = 0;
  for (; done < arguments.runs; ++done) {
    if (std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() > arguments.seconds) break;
    const std::uint64_t seed = arguments.seed + done;
    std::string wrong;
    try {
      wrong = Attempt(seed).run(stopped);
    } catch (const std::exception& e) { wrong = e.what(); }
    if (!wrong.empty()) return std::cout << fmt::format("seed {}: {}\n", seed, wrong), 1;
  }
  std::cout << fmt::format("{} programs, {} of them stopped as they must\n", done, stopped);
  return done > 100 && (stopped == 0 || stopped == done);
}

}  // namespace
}  // namespace pando::fuzz

int main(int argc, char** argv) {
  const auto arguments = pando::fuzz::read_arguments(argc, argv);
  return arguments ? pando::fuzz::run(*arguments) : 2;
}
