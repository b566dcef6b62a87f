// Views against a model that is a plain list of elements: random compositions of all operations.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "graph/views/view.h"

namespace pando::graph {
namespace {

struct Element {
  std::uint32_t variable;
  std::uint64_t offset;
  friend auto operator<=>(const Element&, const Element&) = default;
};

struct Model {
  Shape shape;
  std::vector<Element> elements;
};

std::size_t count(const Shape& shape) {
  std::size_t n = 1;
  for (std::size_t s : shape) n *= s;
  return n;
}

// The model of an operation: for every coordinate of the result, the coordinate it comes from.
template <class From>
Model gather(const Model& m, const Shape& shape, From from) {
  Model out{shape, {}};
  Shape at(shape.size(), 0);
  for (std::size_t i = 0; i < count(shape); ++i) {
    std::size_t rest = i;
    for (std::size_t d = shape.size(); d-- > 0;) {
      at[d] = rest % shape[d];
      rest /= shape[d];
    }
    const Shape source = from(at);
    std::size_t flat = 0;
    for (std::size_t d = 0; d < m.shape.size(); ++d) flat = flat * m.shape[d] + source[d];
    out.elements.push_back(m.elements.at(flat));
  }
  return out;
}

Model concat(const std::vector<Model>& parts, unsigned dim) {
  Model out{parts[0].shape, {}};
  out.shape[dim] = 0;
  std::size_t outer = 1, inner = 1;
  for (unsigned d = 0; d < dim; ++d) outer *= out.shape[d];
  for (std::size_t d = dim + 1; d < out.shape.size(); ++d) inner *= out.shape[d];
  for (const Model& p : parts) out.shape[dim] += p.shape[dim];
  for (std::size_t o = 0; o < outer; ++o)
    for (const Model& p : parts) {
      const std::size_t n = p.shape[dim] * inner;
      out.elements.insert(out.elements.end(), p.elements.begin() + static_cast<std::ptrdiff_t>(o * n),
                          p.elements.begin() + static_cast<std::ptrdiff_t>((o + 1) * n));
    }
  return out;
}

// Runs by the rule of the header's word "maximal", one element after the other.
std::vector<Run> model_runs(const std::vector<Element>& elements) {
  std::vector<Run> runs;
  for (const Element& e : elements) {
    const VariableId v(e.variable);
    Run* r = runs.empty() ? nullptr : &runs.back();
    if (!r || r->variable != v) {
      runs.push_back({v, e.offset, 1, 1});
      continue;
    }
    const std::uint64_t last = r->offset + static_cast<std::uint64_t>(r->stride) * (r->count - 1);
    if (r->count == 1) {
      r->stride = static_cast<std::int64_t>(e.offset - r->offset);
      r->count = 2;
    } else if (last + static_cast<std::uint64_t>(r->stride) == e.offset) {
      ++r->count;
    } else if (r->count == 2 && e.offset == last + 1) {
      *r = {v, r->offset, 1, 1};
      runs.push_back({v, last, 1, 2});
    } else {
      runs.push_back({v, e.offset, 1, 1});
    }
  }
  return runs;
}

std::vector<Region> model_regions(const std::vector<Element>& elements) {
  std::vector<Region> out;
  for (const Element& e : elements) {
    if (!out.empty() && out.back().variable.value == e.variable && out.back().elements.end == e.offset)
      ++out.back().elements.end;
    else
      out.push_back({VariableId(e.variable), {e.offset, e.offset + 1}});
  }
  return out;
}

std::vector<Element> expand(const std::vector<Run>& runs) {
  std::vector<Element> out;
  for (const Run& r : runs)
    for (std::uint64_t i = 0; i < r.count; ++i) out.push_back({r.variable.value, r.offset + static_cast<std::uint64_t>(r.stride) * i});
  return out;
}

struct Pair {
  View view;
  Model model;
};

class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}
  std::size_t below(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_); }

  Pair variable() {
    const auto id = static_cast<std::uint32_t>(below(3));
    Shape shape(below(4));
    for (std::size_t& s : shape) s = 1 + below(5);
    Pair p{View::of_variable(VariableId(id), ElementType::int_, shape), {shape, {}}};
    for (std::size_t i = 0; i < count(shape); ++i) p.model.elements.push_back({id, i});
    return p;
  }

  Pair step(const Pair& p) {
    const Shape& shape = p.model.shape;
    const auto rank = static_cast<unsigned>(shape.size());
    const std::size_t n = count(shape);
    const std::size_t operation = below(11);
    if (rank == 0 || operation == 0) return reshaped(p);
    const auto d = static_cast<unsigned>(below(rank));
    Shape to = shape;
    switch (operation) {
      case 1: {
        const std::size_t begin = below(shape[d] + 1), end = begin + below(shape[d] - begin + 1);
        to[d] = end - begin;
        return {p.view.slice(begin, end, d), gather(p.model, to, [&](Shape at) {
                  at[d] += begin;
                  return at;
                })};
      }
      case 2: {
        if (shape[0] == 0) return p;
        const std::size_t i = below(shape[0]);
        to.erase(to.begin());
        return {p.view.index(i), gather(p.model, to, [&](Shape at) {
                  at.insert(at.begin(), i);
                  return at;
                })};
      }
      case 3:
      case 4: {
        std::vector<unsigned> permutation(rank);
        for (unsigned i = 0; i < rank; ++i) permutation[i] = i;
        std::shuffle(permutation.begin(), permutation.end(), random_);
        for (unsigned i = 0; i < rank; ++i) to[i] = shape[permutation[i]];
        return {p.view.dim_shuffle(permutation), gather(p.model, to, [&](const Shape& at) {
                  Shape from(rank);
                  for (unsigned i = 0; i < rank; ++i) from[permutation[i]] = at[i];
                  return from;
                })};
      }
      case 5:
        return {p.view.reverse(d), gather(p.model, to, [&](Shape at) {
                  at[d] = shape[d] - 1 - at[d];
                  return at;
                })};
      case 6: {
        const auto times = static_cast<unsigned>(n > 300 ? 1 : below(4));
        to[d] *= times;
        return {p.view.broadcast(times, d), gather(p.model, to, [&](Shape at) {
                  at[d] %= shape[d];
                  return at;
                })};
      }
      case 7: {
        const auto stride = static_cast<unsigned>(1 + below(3));
        to[d] = (to[d] + stride - 1) / stride;
        return {p.view.sub_sample(stride, d), gather(p.model, to, [&](Shape at) {
                  at[d] *= stride;
                  return at;
                })};
      }
      case 8: {
        const auto scale = static_cast<unsigned>(n > 300 ? 1 : 1 + below(3));
        to[d] *= scale;
        return {p.view.upsample(scale, d), gather(p.model, to, [&](Shape at) {
                  at[d] /= scale;
                  return at;
                })};
      }
      default: return concatenated(p, d);
    }
  }

 private:
  Pair reshaped(const Pair& p) {
    std::size_t n = count(p.model.shape);
    Shape to;
    if (n == 0) to = {n};
    while (n > 1) {
      std::size_t factor = 2 + below(n);
      while (n % factor != 0) --factor;
      to.insert(to.begin() + static_cast<std::ptrdiff_t>(below(to.size() + 1)), std::max<std::size_t>(factor, 1));
      if (factor <= 1) continue;
      n /= factor;
    }
    if (below(3) == 0) to.push_back(1);
    return {p.view.reshape(to), {to, p.model.elements}};
  }

  // With slices of itself, its mirror image, or a fresh variable.
  Pair concatenated(const Pair& p, unsigned d) {
    if (count(p.model.shape) > 300) return p;
    std::vector<View> views{p.view};
    std::vector<Model> models{p.model};
    for (std::size_t i = below(4); i-- > 0;) {
      Pair other = p;
      if (below(2))
        other = {p.view.reverse(d), gather(p.model, p.model.shape, [&](Shape at) {
                   at[d] = p.model.shape[d] - 1 - at[d];
                   return at;
                 })};
      if (below(3) == 0) {
        other.view = View::of_variable(VariableId(3), ElementType::int_, p.model.shape);
        for (std::size_t k = 0; k < other.model.elements.size(); ++k) other.model.elements[k] = {3, k};
      }
      const std::size_t size = p.model.shape[d];
      const std::size_t begin = below(size + 1), end = begin + below(size - begin + 1);
      Shape to = p.model.shape;
      to[d] = end - begin;
      views.push_back(other.view.slice(begin, end, d));
      models.push_back(gather(other.model, to, [&](Shape at) {
        at[d] += begin;
        return at;
      }));
    }
    return {View::concat(views, d), concat(models, d)};
  }

  std::mt19937 random_;
};

void expect_same(const Pair& p, Generator& random) {
  const std::vector<Element>& elements = p.model.elements;
  ASSERT_EQ(p.view.shape(), p.model.shape);
  ASSERT_EQ(p.view.num_elements(), elements.size());
  ASSERT_EQ(p.view.runs(), model_runs(elements));
  ASSERT_EQ(p.view.regions(), model_regions(elements));

  std::vector<Run> runs;
  const std::size_t begin = random.below(elements.size() + 1), end = begin + random.below(elements.size() - begin + 1);
  p.view.for_each_run(begin, end, [&](const Run& r) { runs.push_back(r); });
  ASSERT_EQ(runs, model_runs({elements.begin() + static_cast<std::ptrdiff_t>(begin), elements.begin() + static_cast<std::ptrdiff_t>(end)}));

  const std::set<Element> unique(elements.begin(), elements.end());
  ASSERT_EQ(p.view.contains_aliases(), unique.size() != elements.size());
  bool repeated = false;
  ASSERT_EQ(p.view.element_set(&repeated), model_regions({unique.begin(), unique.end()}));
  ASSERT_EQ(repeated, unique.size() != elements.size());
  runs.clear();
  p.view.for_each_run_in_any_order([&](const Run& r) {
    EXPECT_GT(r.stride, 0);
    runs.push_back(r);
  });
  const std::vector<Element> listed = expand(runs);
  ASSERT_EQ(std::set<Element>(listed.begin(), listed.end()), unique);

  Region region;
  const bool single = model_regions(elements).size() == 1;
  ASSERT_EQ(p.view.single_region(region), single);
  if (single) ASSERT_EQ(region, model_regions(elements)[0]);
  ASSERT_EQ(p.view.is_contiguous(), elements.empty() || single);

  std::set<VariableId> variables;
  for (const Element& e : elements) variables.insert(VariableId(e.variable));
  ASSERT_EQ(p.view.variables(), std::vector<VariableId>(variables.begin(), variables.end()));
}

bool shares(const Model& a, const Model& b) {
  const std::set<Element> of_a(a.elements.begin(), a.elements.end());
  return std::any_of(b.elements.begin(), b.elements.end(), [&](const Element& e) { return of_a.count(e) > 0; });
}

void expect_same_together(const Pair& a, const Pair& b) {
  ASSERT_EQ(a.view.intersects(b.view), shares(a.model, b.model));
  ASSERT_EQ(a.view == b.view, a.model.shape == b.model.shape && a.model.elements == b.model.elements);
}

void expect_variable_order(const Pair& p) {
  std::vector<unsigned> reversed, permutation;
  if (!p.view.variable_order(reversed, permutation)) return;
  View ordered = p.view;
  for (unsigned d : reversed) ordered = ordered.reverse(d);
  const std::vector<Element> got = expand(ordered.dim_shuffle(permutation).runs());
  if (!p.view.contains_aliases()) ASSERT_TRUE(std::is_sorted(got.begin(), got.end()));
}

void expect_unfolded(const Pair& p) {
  const View open = p.view.unfolded();
  ASSERT_EQ(open.num_elements(), p.view.num_elements());
  ASSERT_EQ(expand(open.runs()), p.model.elements);
}

void expect_renamed(const Pair& p) {
  const View other = p.view.renamed([](VariableId id) { return VariableId(id.value + 10); });
  std::vector<Element> want = p.model.elements;
  for (Element& e : want) e.variable += 10;
  ASSERT_EQ(other.shape(), p.model.shape);
  ASSERT_EQ(expand(other.runs()), want);
}

TEST(ViewModel, RandomCompositions) {
  for (unsigned seed = 0; seed < 1500; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Generator random(seed);
    Pair before = random.variable(), now = before;
    for (int i = 0; i < 10; ++i) {
      before = now;
      now = random.step(now);
      expect_same(now, random);
      expect_same_together(before, now);
      expect_variable_order(now);
      expect_unfolded(now);
      expect_renamed(now);
      if (HasFatalFailure()) return;
    }
  }
}

// Long chains, chains of chains, and operations on them.
TEST(ViewModel, AppendingManyPieces) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Generator random(seed);
    Pair all{View::of_variable(VariableId(0), ElementType::int_, {0}), {{0}, {}}};
    const std::size_t pieces = 100 + random.below(1500);
    for (std::size_t i = 0; i < pieces; ++i) {
      const auto id = static_cast<std::uint32_t>(random.below(2));
      const std::size_t begin = random.below(1000), end = begin + 1 + random.below(4);
      View part = View::of_variable(VariableId(id), ElementType::int_, {1010}).slice(begin, end, 0);
      Model model{{end - begin}, {}};
      for (std::size_t e = begin; e < end; ++e) model.elements.push_back({id, e});
      if (random.below(3) == 0) {
        part = part.reverse(0);
        std::reverse(model.elements.begin(), model.elements.end());
      }
      const bool front = random.below(4) == 0;
      all.view = front ? View::concat({part, all.view}, 0) : View::concat({all.view, part}, 0);
      all.model = front ? concat({model, all.model}, 0) : concat({all.model, model}, 0);
      if (random.below(200) == 0) {
        all.view = all.view.reverse(0);
        std::reverse(all.model.elements.begin(), all.model.elements.end());
      }
    }
    expect_same(all, random);
    expect_renamed(all);
    Pair now = all;
    for (int i = 0; i < 6; ++i) {
      now = random.step(now);
      expect_same(now, random);
      if (HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace pando::graph
