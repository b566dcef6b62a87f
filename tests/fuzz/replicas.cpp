// Random programs of a replicated graph in both of its forms: as the replicas of a program, and, beside a variable that belongs to none of
// them, one by one on all the tiles. The interpreter says what each means; all elements of all replicas must be the same.
#include <fmt/format.h>

#include <chrono>
#include <iostream>
#include <numeric>

#include "arguments.h"
#include "base/error.h"
#include "codelets.h"
#include "graph/interpreter.h"
#include "graph/replicas.h"
#include "random.h"

namespace pando::fuzz {
namespace {

using namespace graph;

constexpr ElementType kType = ElementType::unsigned_int;
constexpr unsigned kTiles = 3;  // of an IPU

class Attempt {
 public:
  // The same choices for both values of `beside`.
  Attempt(std::uint64_t seed, bool beside)
      : random_(seed), replicas_(static_cast<unsigned>(random_.between(2, 4))), graph_(machine(replicas_), 1) {
    add_codelets(graph_.library());
    std::vector<TileId> tiles;
    for (unsigned t = 0; t < replicas_ * kTiles; ++t) tiles.emplace_back(t);
    id_ = graph_.add_replication({machine(1), replicas_, tiles});
    for (std::uint64_t n = random_.between(2, 5); n > 0; --n) add_variable();
    variables_.push_back(graph_.view(graph_.add_replica_index("index", id_)));
    graph_.set_tile_mapping(variables_.back(), some_tile());
    const ProgramPtr shared = sequence(2, 1);
    function_ = graph_.add_function(shared, "function");
    program_ = sequence(random_.between(2, 6), 2);
    if (beside) graph_.add_variable(kType, {1}, "beside");
  }

  unsigned replicas() const { return replicas_; }

  // Of each variable the elements of replica 0, of replica 1 ...
  std::vector<std::string> results() {
    for (std::size_t i = 0; i < variables_.size(); ++i) graph_.add_host_handle(fmt::format("v{}", i), variables_[i], true, false);
    const ExpandedReplicas expanded = expand_replicas(graph_, {&program_, 1});
    verify(expanded.graph, expanded.programs);
    Interpreter interpreter(expanded.graph);
    interpreter.run(expanded.programs[0]);
    forms_ = expanded.graph.replication_factor();
    std::vector<std::string> out;
    for (const HostHandle& h : expanded.graph.host_handles()) {
      out.emplace_back();
      for (unsigned r = 0; r < expanded.graph.replication_factor(); ++r) out.back() += interpreter.read(h.tensor, r).bytes;
    }
    return out;
  }
  unsigned replication_factor() const { return forms_; }

 private:
  static Machine machine(unsigned ipus) {
    Machine m = *find_machine("tiny4");
    m.ipus = ipus;
    m.tiles_per_ipu = kTiles;
    return m;
  }
  TileId some_tile() { return TileId(static_cast<std::uint32_t>(random_.below(kTiles))); }

  void add_variable() {
    const Shape shape{random_.between(1, 4), random_.between(1, 5)};
    const View v = graph_.view(graph_.add_variable(kType, shape, fmt::format("v{}", variables_.size()), id_));
    std::string bytes;
    for (std::size_t i = 0; i < 4 * v.num_elements(); ++i) bytes += static_cast<char>(random_.next());
    graph_.set_initial_value(v, bytes);
    for (std::size_t i = 0; i < shape[0]; ++i) graph_.set_tile_mapping(v.index(i), some_tile());
    variables_.push_back(v);
  }

  // Some elements, one-dimensional, none twice.
  View some_view(bool written) {
    View v = variables_[random_.below(variables_.size() - (written ? 1 : 0))];
    if (v.rank() == 2 && random_.chance(50)) v = v.dim_shuffle({1, 0});
    if (v.rank() == 2 && random_.chance(50)) v = v.reverse(static_cast<unsigned>(random_.below(2)));
    v = v.flatten();
    const std::uint64_t begin = random_.below(v.num_elements());
    v = v.slice(begin, begin + random_.between(1, v.num_elements() - begin), 0);
    return random_.chance(30) ? v.reverse(0) : v;
  }
  // Of n elements.
  View some_source(std::uint64_t n) {
    std::vector<View> parts;
    for (std::uint64_t have = 0; have < n; have += parts.back().num_elements()) {
      const View v = some_view(false);
      parts.push_back(v.slice(0, std::min<std::uint64_t>(v.num_elements(), n - have), 0));
    }
    return View::concat(parts, 0);
  }

  ProgramPtr execute() {
    const ComputeSetId cs = graph_.add_compute_set("set");
    const View v = some_view(true);
    const VertexId x = graph_.add_vertex(cs, "Update<unsigned int>", id_);
    graph_.connect({x, "v", {}}, v);
    const auto k = static_cast<std::uint32_t>(random_.next());
    graph_.set_initial_value({x, "k", {}}, kType, std::string(reinterpret_cast<const char*>(&k), 4), 1);
    graph_.set_tile_mapping(x, some_tile());
    return make_program(Execute{cs, {}});
  }

  // Replicas on in a ring, or some of them.
  ProgramPtr across() {
    const View to = some_view(true), from = some_source(to.num_elements());
    std::vector<std::pair<unsigned, unsigned>> map;
    const auto by = static_cast<unsigned>(random_.below(replicas_));
    for (unsigned r = 0; r < replicas_; ++r)
      if (random_.chance(80)) map.emplace_back(r, (r + by) % replicas_);
    return make_program(CrossReplicaCopy{from, to, map});
  }

  ProgramPtr step(unsigned depth) {
    switch (random_.below(depth > 0 ? 7 : 4)) {
      case 0:
      case 1: return execute();
      case 2: {
        const View to = some_view(true);
        return make_program(Copy{some_source(to.num_elements()), to});
      }
      case 3: return across();
      case 4: return make_program(Repeat{random_.between(1, 3), sequence(2, depth - 1)});
      case 5: return function_.valid() ? make_program(Call{function_}) : execute();
      default: return sequence(3, depth - 1);
    }
  }
  ProgramPtr sequence(std::uint64_t steps, unsigned depth) {
    Sequence s;
    for (; steps > 0; --steps) s.steps.push_back(step(depth));
    return make_program(std::move(s));
  }

  Random random_;
  unsigned replicas_;
  Graph graph_;
  ReplicationId id_;
  std::vector<View> variables_;
  FunctionId function_;
  ProgramPtr program_;
  unsigned forms_ = 0;
};

std::string compare(std::uint64_t seed) {
  Attempt as_replicas(seed, false), one_by_one(seed, true);
  const std::vector<std::string> want = as_replicas.results(), have = one_by_one.results();
  if (as_replicas.replication_factor() != as_replicas.replicas()) return "the first form is not that of replicas";
  if (one_by_one.replication_factor() != 1) return "the second form has replicas";
  for (std::size_t i = 0; i < want.size(); ++i)
    if (want[i] != have[i]) return fmt::format("v{} differs", i);
  return {};
}

int run(const Arguments& arguments) {
  const auto begin = std::chrono::steady_clock::now();
  std::uint64_t done = 0;
  for (; done < arguments.runs; ++done) {
    if (std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() > arguments.seconds) break;
    std::string wrong;
    try {
      wrong = compare(arguments.seed + done);
    } catch (const std::exception& e) { wrong = e.what(); }
    if (!wrong.empty()) return std::cout << fmt::format("seed {}: {}\n", arguments.seed + done, wrong), 1;
  }
  std::cout << fmt::format("{} programs\n", done);
  return 0;
}

}  // namespace
}  // namespace pando::fuzz

int main(int argc, char** argv) {
  const auto arguments = pando::fuzz::read_arguments(argc, argv);
  return arguments ? pando::fuzz::run(*arguments) : 2;
}
