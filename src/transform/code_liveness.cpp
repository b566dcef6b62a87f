#include "transform/code_liveness.h"

#include "ir/op_row.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace pando::transform {

using namespace ir;
using Kind = CodeEvent::Kind;

namespace {

// By graph.
using Bits = std::vector<bool>;

void join(Bits& into, const Bits& from) {
  for (std::size_t i = 0; i < into.size(); ++i) into[i] = into[i] || from[i];
}

// Events forwards, then what is required before each, backwards.
class Analysis {
 public:
  explicit Analysis(const Module& m) : m_(m), loads_(m.graph_count(), -1), mentioned_(m.graph_count()), loaded_(m.graph_count()) {}

  CodeLiveness run() {
    add(Kind::start, m_.main_graph(), {}, 0);
    Sequence main = read(m_.main_graph(), 0);
    during_.assign(out_.events.size(), Bits(m_.graph_count()));
    during_[0] = before(main, Bits(m_.graph_count()));
    for (std::size_t g = 0; g < m_.graph_count(); ++g) {
      if (mentioned_[g]) out_.graphs.push_back(collect(g));
    }
    return std::move(out_);
  }

 private:
  // A step, with the numbers of its events, and the bodies that stand behind it.
  struct Step;
  using Sequence = std::vector<Step>;
  struct Step {
    Kind kind;
    GraphId graph;
    std::size_t first = 0, middle = 0, last = 0;
    std::int64_t count = 1;
    Sequence body, other;
  };

  std::size_t add(Kind kind, GraphId graph, OpId op, std::int32_t depth) {
    out_.events.push_back({kind, graph, op, depth});
    return out_.events.size() - 1;
  }

  bool is_load(OpId o) const { return has(m_.row(o).effects, Effects::code); }

  bool loads_code(GraphId g) {
    if (loads_[g.index()] < 0) {
      const auto& ops = m_.graph(g).ops;
      loads_[g.index()] = std::any_of(ops.begin(), ops.end(), [&](OpId o) { return is_load(o) || carries_load(o); });
    }
    return loads_[g.index()] > 0;
  }
  bool carries_load(OpId o) {
    const auto graphs = m_.graphs(o);
    return std::any_of(graphs.begin(), graphs.end(), [&](GraphId g) { return loads_code(g); });
  }

  Sequence read(GraphId graph, std::int32_t depth) {
    Sequence steps;
    const bool main = graph == m_.main_graph();
    for (OpId o : m_.graph(graph).ops) {
      if (m_.graphs(o).empty() || (main && m_.op(o).context != Context::normal)) continue;
      steps.push_back(step(o, depth));
    }
    return steps;
  }

  Step step(OpId o, std::int32_t depth) {
    const std::vector<GraphId> graphs(m_.graphs(o).begin(), m_.graphs(o).end());
    for (GraphId g : graphs) mentioned_[g.index()] = true;
    Step s{Kind::call, graphs[0]};
    if (is_load(o)) {
      s.kind = Kind::load;
      loaded_[graphs[0].index()] = true;
      s.first = s.last = add(Kind::load, graphs[0], o, depth);
      return s;
    }
    const bool repeats = m_.attributes(o).has("count");
    s.kind = graphs.size() == 2 ? Kind::branch : repeats ? Kind::loop : Kind::call;
    s.count = repeats ? m_.attributes(o).integer("count") : 1;
    s.first = s.middle = s.last = add(s.kind, graphs[0], o, depth);
    if (graphs.size() == 2) {
      s.body = read(graphs[0], depth + 1);
      s.middle = add(Kind::otherwise, graphs[1], o, depth);
      s.other = read(graphs[1], depth + 1);
      s.last = add(Kind::end_branch, graphs[1], o, depth);
    } else if (loads_code(graphs[0])) {
      s.body = read(graphs[0], depth + 1);
      s.last = add(repeats ? Kind::end_loop : Kind::end_call, graphs[0], o, depth);
    } else {
      mention(graphs[0]);
    }
    return s;
  }

  // A body without loads is not written out: all it calls is required with it.
  void mention(GraphId g) {
    mentioned_[g.index()] = true;
    for (OpId o : m_.graph(g).ops) {
      for (GraphId carried : m_.graphs(o)) mention_once(carried);
    }
  }
  void mention_once(GraphId g) {
    if (!mentioned_[g.index()]) mention(g);
  }

  void require(Bits& bits, GraphId g) const {
    bits[g.index()] = true;
    for (OpId o : m_.graph(g).ops) {
      if (is_load(o)) continue;
      for (GraphId carried : m_.graphs(o)) {
        if (!bits[carried.index()]) require(bits, carried);
      }
    }
  }

  Bits before(const Sequence& steps, Bits required) {
    for (auto it = steps.rbegin(); it != steps.rend(); ++it) required = before(*it, std::move(required));
    return required;
  }

  Bits before(const Step& s, Bits after) {
    if (s.kind == Kind::load) {
      // From the load on.
      join(during_[s.first], after);
      after[s.graph.index()] = false;
      return after;
    }
    if (s.count == 0) return after;
    if (s.kind == Kind::branch) return before_branch(s, after);
    if (s.last == s.first) {
      require(after, s.graph);
      join(during_[s.first], after);
      return after;
    }
    // A body's code is required as long as it runs. A loop's end leads to its begin, too.
    Bits in(after.size()), last;
    do {
      last = in;
      Bits at_end = with(after, s.graph);
      if (s.count > 1) join(at_end, in);
      join(during_[s.last], at_end);
      in = with(before(s.body, at_end), s.graph);
    } while (s.count > 1 && in != last);
    join(during_[s.first], in);
    return in;
  }

  static Bits with(Bits bits, GraphId g) {
    bits[g.index()] = true;
    return bits;
  }

  Bits before_branch(const Step& s, const Bits& after) {
    const GraphId otherwise = out_.events[s.middle].graph;
    join(during_[s.last], after);
    Bits in = with(before(s.body, with(after, s.graph)), s.graph);
    const Bits second = with(before(s.other, with(after, otherwise)), otherwise);
    join(during_[s.middle], second);
    join(in, second);
    join(during_[s.first], in);
    return in;
  }

  CodeLiveness::GraphCode collect(std::size_t g) const {
    CodeLiveness::GraphCode code{GraphId(static_cast<GraphId::rep>(g)), !loaded_[g], {}};
    for (std::size_t e = 0; e < during_.size(); ++e) {
      if (!during_[e][g]) continue;
      if (e > 0 && during_[e - 1][g] && !starts_anew(e, g)) {
        code.required.back().last = e;
      } else {
        code.required.push_back({e, e});
      }
    }
    return code;
  }
  // A load ends what was required before it.
  bool starts_anew(std::size_t e, std::size_t g) const { return out_.events[e].kind == Kind::load && out_.events[e].graph.index() == g; }

  const Module& m_;
  CodeLiveness out_;
  std::vector<int> loads_;
  Bits mentioned_, loaded_;
  // By event: whose code is required while it runs and right after, as far as it is needed at all.
  std::vector<Bits> during_;
};

std::string text_of(const Module& m, const CodeEvent& e) {
  static constexpr std::string_view words[] = {"start", "load", "call", "end call", "if", "else", "end if", "repeat", "end repeat"};
  const std::string word(words[static_cast<std::size_t>(e.kind)]);
  return e.kind == Kind::start || e.kind == Kind::end_branch ? word : fmt::format("{} {}", word, m.graph(e.graph).name);
}

std::string text_of(const CodeLiveness::GraphCode& code) {
  if (code.always) return "live always, never loaded";
  if (code.required.empty()) return "dead";
  std::string text;
  if (code.required[0].first > 0) text = fmt::format("dead before {}, ", code.required[0].first);
  for (const auto& [first, last] : code.required) text += fmt::format("live {} to {}, ", first, last);
  return text + fmt::format("dead after {}", code.required.back().last);
}

}  // namespace

CodeLiveness code_liveness(const Module& module) { return Analysis(module).run(); }

std::string to_string(const Module& module, const CodeLiveness& liveness) {
  std::string text;
  for (std::size_t e = 0; e < liveness.events.size(); ++e) {
    const auto indent = static_cast<std::size_t>(2 * liveness.events[e].depth);
    text += fmt::format("{:>4} {}{}\n", e, std::string(indent, ' '), text_of(module, liveness.events[e]));
  }
  for (const CodeLiveness::GraphCode& code : liveness.graphs) text += fmt::format("{}: {}\n", module.graph(code.graph).name, text_of(code));
  return text;
}

}  // namespace pando::transform
