// Elements that would be written twice, and ranges that are none, wherever the graph takes tensors and intervals: rejected exactly where
// looking at every element says so, and nothing else is.
//
//   fuzz_aliases [--seed S|new] [--runs N] [--seconds T]
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <numeric>
#include <set>

#include "codelets.h"
#include "graph/graph.h"
#include "structure.h"

namespace pando::fuzz {
namespace {

using namespace graph;

constexpr ElementType kType = ElementType::unsigned_int;
using Element = std::pair<VariableId, std::uint64_t>;
using Elements = std::vector<Element>;

Elements elements_of(const View& view) {
  Elements out;
  view.for_each_run([&](const Run& run) {
    for (std::uint64_t i = 0; i < run.count; ++i)
      out.emplace_back(run.variable, run.offset + static_cast<std::uint64_t>(static_cast<std::int64_t>(i) * run.stride));
  });
  return out;
}
Elements elements_of(const std::vector<View>& views) {
  Elements out;
  for (const View& v : views)
    for (const Element& e : elements_of(v)) out.push_back(e);
  return out;
}
bool any_twice(Elements e) {
  std::sort(e.begin(), e.end());
  return std::adjacent_find(e.begin(), e.end()) != e.end();
}
bool meet(const Elements& a, const Elements& b) {
  const std::set<Element> all(a.begin(), a.end());
  return std::any_of(b.begin(), b.end(), [&](const Element& e) { return all.contains(e); });
}

// A graph with some variables, and what is done to it.
class Attempt {
 public:
  explicit Attempt(std::uint64_t seed) : random_(seed), graph_(*find_machine("tiny4"), 1) {
    add_codelets(graph_.library());
    for (std::uint64_t n = random_.between(1, 3); n > 0; --n) variable();
  }

  // Empty, or what is wrong. `rejected` counts.
  std::string run(std::uint64_t& rejected) {
    switch (random_.below(8)) {
      case 0: return rows_of_one_vertex(rejected);
      case 1: return two_vertices(rejected);
      case 2: return initial_value(rejected);
      case 3: return mapping(rejected);
      case 4: return regions(rejected);
      case 5: return step(rejected);
      case 6: return host_handle(rejected);
      default: return slice(rejected);
    }
  }

 private:
  View variable() {
    const Shape shape = {random_.between(1, 3), random_.between(1, 5)};
    const View v = graph_.view(graph_.add_variable(kType, shape, "v" + std::to_string(variables_.size())));
    graph_.set_tile_mapping(v, TileId(static_cast<std::uint32_t>(random_.below(4))));
    variables_.push_back(v);
    return v;
  }

  View changed(const View& v) {
    const auto d = static_cast<unsigned>(random_.below(v.rank()));
    const std::size_t begin = random_.below(v.dim(d));
    switch (random_.below(8)) {
      case 0:
      case 1: return v.slice(begin, random_.between(begin + 1, v.dim(d)), d);
      case 2: return v.reverse(d);
      case 3: return v.flatten();
      case 4: return v.rank() == 2 ? v.dim_shuffle({1, 0}) : v.sub_sample(2, d);
      case 5: return v.num_elements() > 30 ? v : v.broadcast(2, d);
      case 6: return v.num_elements() > 30 ? v : v.upsample(2, d);
      default: return View::concat({v.flatten(), random_.pick(variables_).flatten()}, 0);
    }
  }
  View any_view() {
    View v = random_.pick(variables_);
    for (std::uint64_t n = random_.below(4); n > 0; --n) v = changed(v);
    return v;
  }
  std::vector<View> any_rows() {
    std::vector<View> rows;
    for (std::uint64_t n = random_.between(1, 3); n > 0; --n) rows.push_back(any_view().flatten());
    return rows;
  }

  template <class Do>
  std::string expect(const char* what, bool is_wrong, std::uint64_t& rejected, std::initializer_list<const char*> ids, Do act) {
    std::string message;
    try {
      act();
    } catch (const std::exception& e) { message = e.what(); }
    rejected += is_wrong;
    if (message.empty() != is_wrong) {
      const bool named = message.empty() || std::any_of(ids.begin(), ids.end(), [&](const char* id) {
                           return message.find(std::string("[") + id + "]") != std::string::npos;
                         });
      return named ? "" : fmt::format("{}: rejected as something else: {}", what, message);
    }
    return fmt::format("{}: {}", what, is_wrong ? "taken" : "rejected: " + message);
  }

  std::string verified(const char* what, bool is_wrong, std::uint64_t& rejected, std::initializer_list<const char*> ids,
                       const ProgramPtr& program) {
    return expect(what, is_wrong, rejected, ids, [&] { verify(graph_, std::vector<ProgramPtr>{program}); });
  }

  VertexId vertex(ComputeSetId set, const char* codelet) {
    const VertexId v = graph_.add_vertex(set, codelet);
    graph_.set_tile_mapping(v, TileId(static_cast<std::uint32_t>(random_.below(4))));
    return v;
  }

  std::string rows_of_one_vertex(std::uint64_t& rejected) {
    const ComputeSetId set = graph_.add_compute_set("set");
    const bool in_and_out = random_.chance(50);
    const VertexId v = vertex(set, in_and_out ? "Shift<unsigned int>" : "Spread<unsigned int>");
    const std::vector<View> rows = any_rows();
    graph_.connect({v, "rows", {}}, rows);
    // What it reads may be what it writes: in place.
    if (in_and_out)
      graph_.connect({v, "s", {}}, any_view().flatten().index(0));
    else
      graph_.connect({v, "x", {}}, any_view().flatten());
    return verified("rows of one vertex", any_twice(elements_of(rows)), rejected, {"output-aliases", "compute-set-race"},
                    make_program(Execute{set, {}}));
  }

  std::string two_vertices(std::uint64_t& rejected) {
    const ComputeSetId set = graph_.add_compute_set("set");
    Elements written[2], read[2];
    for (int i = 0; i < 2; ++i) {
      const VertexId v = vertex(set, "Chain<unsigned int>");
      const View x = any_view().flatten(), y = any_view().flatten();
      graph_.connect({v, "x", {}}, x);
      graph_.connect({v, "y", {}}, y);
      graph_.set_initial_value({v, "k", {}}, kType, std::string(4, '\1'), 1);
      read[i] = elements_of(x);
      written[i] = elements_of(y);
    }
    const bool is_wrong = any_twice(written[0]) || any_twice(written[1]) || meet(written[0], written[1]) || meet(written[0], read[1]) ||
                          meet(written[1], read[0]);
    return verified("two vertices", is_wrong, rejected, {"output-aliases", "compute-set-race"}, make_program(Execute{set, {}}));
  }

  std::string initial_value(std::uint64_t& rejected) {
    const View v = any_view();
    std::vector<std::string> before;
    for (const Variable& variable : graph_.variables()) before.push_back(variable.initial);
    const bool is_wrong = any_twice(elements_of(v));
    std::string wrong = expect("setInitialValue", is_wrong, rejected, {"write-of-aliases"},
                               [&] { graph_.set_initial_value(v, std::string(4 * v.num_elements(), '\7')); });
    for (std::size_t i = 0; wrong.empty() && is_wrong && i < before.size(); ++i)
      if (graph_.variables().raw()[i].initial != before[i]) wrong = "setInitialValue that was rejected left values";
    return wrong;
  }

  Interval interval(std::uint64_t n) {
    const std::uint64_t begin = random_.below(n + 1), end = random_.below(n + 1);
    if (random_.chance(80)) return {std::min(begin, end), std::max(begin, end)};
    return {begin, random_.chance(20) ? kNumbers[random_.below(std::size(kNumbers))] : end + random_.below(2)};
  }
  static bool is_none(const Interval& i, std::uint64_t n) { return i.begin > i.end || i.end > n; }

  std::string mapping(std::uint64_t& rejected) {
    const View v = any_view();
    const std::uint64_t n = v.num_elements();
    const std::uint32_t tiles = random_.chance(90) ? 4 : 6;  // of a machine of 4
    std::vector<MappedInterval> map;
    std::vector<unsigned> tiles_of(n, 0);
    bool is_wrong = false;
    for (std::uint64_t k = random_.below(4); k > 0; --k) {
      const TileId tile(static_cast<std::uint32_t>(random_.below(tiles)));
      const Interval i = interval(n);
      map.push_back({i, tile});
      is_wrong = is_wrong || is_none(i, n) || (tile.value >= 4 && i.begin < i.end);
      for (std::uint64_t e = i.begin; e < std::min(i.end, n); ++e) is_wrong = is_wrong || ++tiles_of[e] > 1;
    }
    return expect("setTileMapping", is_wrong, rejected, {"interval-out-of-range", "element-mapped-twice", "no-such-tile"},
                  [&] { graph_.set_tile_mapping(v, map); });
  }

  std::string regions(std::uint64_t& rejected) {
    const View v = any_view();
    std::vector<Interval> list;
    for (std::uint64_t k = random_.below(4); k > 0; --k) list.push_back(interval(v.num_elements()));
    const bool is_wrong = std::any_of(list.begin(), list.end(), [&](const Interval& i) { return is_none(i, v.num_elements()); });
    return expect("getSortedContiguousRegions", is_wrong, rejected, {"interval-out-of-range"},
                  [&] { graph_.sorted_contiguous_regions(v, list, random_.chance(50), nullptr); });
  }

  std::string step(std::uint64_t& rejected) {
    const View v = any_view().flatten();
    const std::uint64_t n = v.num_elements();
    const std::uint64_t kind = random_.below(5);
    const bool is_wrong = kind != 1 && any_twice(elements_of(v));  // to leave an element undefined twice is to do it once
    const View from = graph_.view(graph_.add_variable(kType, {n}, "from"));
    graph_.set_tile_mapping(from, TileId(0));
    constexpr const char* kSteps[] = {"Copy", "WriteUndef", "HostToDevice", "RemoteRead"};
    ProgramPtr program;
    switch (kind) {
      case 0: program = make_program(Copy{from, v}); break;
      case 1: program = make_program(WriteUndef{v}); break;
      case 2: program = make_program(HostToDevice{graph_.add_fifo({"in", true, kType, n, ReplicatedFifo::replicate, 1}), v}); break;
      case 3: program = make_program(RemoteRead{graph_.add_remote_buffer({"far", kType, n, 1}), v, View()}); break;
      default: return host_call(rejected, v, from);
    }
    return verified(kSteps[kind], is_wrong, rejected, {"write-of-aliases"}, program);
  }

  std::string host_call(std::uint64_t& rejected, const View& v, const View& from) {
    const View other = any_view().flatten();
    const HostFunctionId f =
        graph_.add_host_function({"host", {{kType, from.num_elements()}}, {{kType, v.num_elements()}, {kType, other.num_elements()}}});
    return verified("outputs of a host function", any_twice(elements_of({v, other})), rejected, {"write-of-aliases"},
                    make_program(HostCall{f, {from}, {v, other}}));
  }

  std::string host_handle(std::uint64_t& rejected) {
    const View v = any_view();
    const bool writes = random_.chance(70);
    return expect("createHostWrite", writes && any_twice(elements_of(v)), rejected, {"write-of-aliases"},
                  [&] { graph_.add_host_handle("h", v, !writes, writes); });
  }

  std::string slice(std::uint64_t& rejected) {
    const View v = any_view();
    const auto d = static_cast<std::size_t>(random_.below(v.rank() + 1));
    const Interval i = interval(d < v.rank() ? v.dim(d) : 3);
    const bool is_wrong = d >= v.rank() || is_none(i, v.dim(d));
    std::string message;
    try {
      if (v.slice(i.begin, i.end, d).dim(d) != i.end - i.begin) return "slice: another size";
    } catch (const std::exception& e) { message = e.what(); }
    rejected += is_wrong;
    return message.empty() == !is_wrong ? ""
                                        : fmt::format("slice [{}, {}) of dimension {} of {}: {}", i.begin, i.end, d, to_string(v.shape()),
                                                      message.empty() ? "taken" : message);
  }

  Random random_;
  Graph graph_;
  std::vector<View> variables_;
};

int run(std::uint64_t seed, std::uint64_t runs, double seconds) {
  const auto begin = std::chrono::steady_clock::now();
  std::uint64_t done = 0, rejected = 0;
  for (; done < runs; ++done) {
    if (done % 64 == 0 && std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() > seconds) break;
    if (const std::string wrong = Attempt(seed + done).run(rejected); !wrong.empty())
      return std::cout << fmt::format("seed {}: {}\n", seed + done, wrong), 1;
  }
  std::cout << fmt::format("{} attempts, {} of them rejected\n", done, rejected);
  return done > 100 && (rejected == 0 || rejected == done);
}

}  // namespace
}  // namespace pando::fuzz

int main(int argc, char** argv) { return pando::fuzz::run_arguments(argc, argv, pando::fuzz::run); }
