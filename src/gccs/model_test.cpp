#include "gccs/popsolver/Model.hpp"

#include <gmock/gmock.h>

#include <optional>
#include <random>

namespace gccs::popsolver {
namespace {

using Number = DataType::UnderlyingType;

std::vector<Number> values(const Solution& s, const std::vector<Variable>& vars) {
  std::vector<Number> out;
  for (Variable v : vars) out.push_back(*s[v]);
  return out;
}

TEST(PopsolverModel, LeastOfAProductThatIsAtLeast) {
  Model m;
  const Variable a = m.addVariable(1, 100, "a"), b = m.addVariable(1, 100, "b");
  m.lessOrEqual(DataType(91), m.product({a, b}));
  const Solution s = m.minimize({m.sum({a, b}), a});
  ASSERT_TRUE(s.validSolution());
  EXPECT_EQ(values(s, {a, b}), (std::vector<Number>{7, 13}));  // 10 + 10 has the same sum, and a greater a
  EXPECT_GT(s.constraintsEvaluated().product, 0u);
  EXPECT_EQ(m.getDebugName(b), "b");
}

TEST(PopsolverModel, WithoutSolutions) {
  Model m;
  const Variable a = m.addVariable(2, 5);
  m.equal(m.mod(a, m.addConstant(7)), DataType(6));
  EXPECT_FALSE(m.minimize(a).validSolution());
}

TEST(PopsolverModel, VariablesThatNoModelReturnedAreZero) {
  Model m;
  const Variable a = m.addVariable(2, 5);
  Solution s = m.minimize(a);
  const Solution& same = s;
  EXPECT_EQ(s[Variable()], DataType(0));
  s[Variable()] = DataType(7);
  EXPECT_EQ(s[Variable()], DataType(0));
  EXPECT_EQ(same[Variable()], DataType(0));
  EXPECT_EQ(same[a], DataType(2));
  EXPECT_THROW(same[Variable(99)], std::out_of_range);
}

TEST(PopsolverModel, DifferencesAreNotNegative) {
  Model m;
  const Variable a = m.addVariable(0, 9), b = m.addVariable(4, 9);
  const Variable d = m.sub(a, b);
  EXPECT_EQ(values(m.minimize({d, a}), {a, b, d}), (std::vector<Number>{4, 4, 0}));
}

TEST(PopsolverModel, CallsSeeKnownArgumentsAndMayForbid) {
  Model m;
  const Variable a = m.addVariable(0, 20);
  unsigned asked = 0;
  const Variable cost = m.call<unsigned>({a}, [&](const std::vector<unsigned>& v) -> std::optional<DataType> {
    ++asked;
    if (v[0] % 3 != 0) return std::nullopt;
    return DataType((v[0] - 11) * (v[0] - 11));
  });
  const Solution s = m.minimize(cost);
  EXPECT_EQ(values(s, {a, cost}), (std::vector<Number>{12, 1}));
  EXPECT_LE(asked, 42u);
  const Variable whole = m.call<DataType>({a}, [](const std::vector<DataType>& v) { return v[0] + DataType(1); });
  EXPECT_EQ(values(m.minimize(whole), {a, whole}), (std::vector<Number>{0, 1}));
}

TEST(PopsolverModel, FactorsAndTightDivisors) {
  Model m;
  const Variable d = m.addVariable(2, 40);
  m.factorOf(DataType(35), d);
  EXPECT_EQ(values(m.minimize(d), {d}), (std::vector<Number>{5}));

  Model n;
  const Variable split = n.addVariable(1, 10);
  const Variable piece = n.ceildivConstrainDivisor(n.addConstant(10), split);
  n.less(piece, DataType(4));
  EXPECT_EQ(values(n.minimize({n.sub(n.addConstant(10), split)}), {split, piece}), (std::vector<Number>{10, 1}));
  // 6, 7, 8 and 9 parts are of 2, as 5 parts are.
  n.less(split, DataType(10));
  EXPECT_EQ(values(n.minimize({n.sub(n.addConstant(10), split)}), {split, piece}), (std::vector<Number>{5, 2}));
}

TEST(PopsolverModel, Relations) {
  Model m;
  const Variable a = m.addVariable(0, 3), b = m.addVariable(0, 3);
  const Variable below = m.reifiedLess(a, b), not_above = m.reifiedLessOrEqual(a, b);
  const Variable same = m.booleanAnd(not_above, m.booleanNot(below));
  m.equal(same, m.one());
  m.less(m.zero(), b);
  EXPECT_EQ(values(m.minimize(b), {a, b, below}), (std::vector<Number>{1, 1, 0}));
}

TEST(PopsolverModel, Rejections) {
  Model m;
  EXPECT_THROW(m.addVariable(3, 2, "x"), std::invalid_argument);
  EXPECT_THROW(m.sum({}), std::invalid_argument);
  EXPECT_THROW(m.less(Variable(7), DataType(1)), std::invalid_argument);
  EXPECT_THROW(m.minimize(Variable(7)), std::invalid_argument);
  EXPECT_THROW(m.call<unsigned char>({m.addVariable(300, 400)}, [](const std::vector<unsigned char>&) { return DataType(0); }),
               std::invalid_argument);
  // What is rejected leaves nothing behind.
  const Variable wide = m.addVariable(0, 1000), narrow = m.addVariable(300, 400);
  EXPECT_THROW(m.call<unsigned char>({wide, narrow}, [](const std::vector<unsigned char>&) { return DataType(0); }), std::invalid_argument);
  m.lessOrEqual(DataType(900), wide);
  EXPECT_THROW(m.sum({wide, Variable(99)}), std::invalid_argument);
  EXPECT_EQ(m.addVariable(0, 1).id, narrow.id + 2);  // after the constant 900
  EXPECT_EQ(values(m.minimize(wide), {wide}), std::vector<Number>{900});
  const auto group = m.addPriorityGroup();
  m.prioritiseOver(group, m.getDefaultPriorityGroup());
  EXPECT_THROW(m.prioritiseOver(m.getDefaultPriorityGroup(), group), std::invalid_argument);
  EXPECT_THROW(m.prioritiseOver(group, group), std::invalid_argument);
  Model other;
  EXPECT_THROW(other.prioritiseOver(other.getDefaultPriorityGroup(), group), std::invalid_argument);
  EXPECT_THROW(other.setPriorityGroup(other.one(), group), std::invalid_argument);
  EXPECT_THROW(other.setPriorityGroup(Variable(), other.getDefaultPriorityGroup()), std::invalid_argument);
  EXPECT_EQ(values(m.minimize(m.one()), {m.one()}), std::vector<Number>{1});
}

// Random models against all assignments.
struct Both {
  explicit Both(unsigned seed) : random(seed) {}
  Number pick(Number n) { return random() % n; }

  void build() {
    for (int i = 0; i < 3; ++i) {
      const Number least = pick(4);
      limits.push_back({least, least + pick(6)});
      vars.push_back(model.addVariable(least, limits.back().second));
    }
    for (int i = 0; i < 5; ++i) {
      const unsigned kind = static_cast<unsigned>(pick(8));
      const std::size_t a = pick(vars.size()), b = pick(vars.size());
      kinds.push_back({kind, a, b});
      const Variable x = vars[a], y = vars[b];
      vars.push_back(kind == 0   ? model.product({x, y, x})
                     : kind == 1 ? model.sum({x, y, y})
                     : kind == 2 ? model.max({x, y})
                     : kind == 3 ? model.min({x, y})
                     : kind == 4 ? model.floordiv(x, y)
                     : kind == 5 ? model.ceildiv(x, y)
                     : kind == 6 ? model.mod(x, y)
                                 : model.reifiedLess(x, y));
    }
    below = pick(vars.size()), above = pick(vars.size());
    model.lessOrEqual(vars[below], vars[above]);
  }

  // All variables of an assignment of the first three, or nothing.
  std::optional<std::vector<Number>> all_of(std::vector<Number> v) const {
    for (const auto& [kind, a, b] : kinds) {
      const Number x = v[a], y = v[b];
      if (kind >= 4 && kind <= 6 && y == 0) return std::nullopt;
      v.push_back(kind == 0   ? x * y * x
                  : kind == 1 ? x + y + y
                  : kind == 2 ? std::max(x, y)
                  : kind == 3 ? std::min(x, y)
                  : kind == 4 ? x / y
                  : kind == 5 ? (x + y - 1) / y
                  : kind == 6 ? x % y
                              : Number(x < y));
    }
    if (v[below] > v[above]) return std::nullopt;
    return v;
  }

  std::mt19937 random;
  Model model;
  std::vector<Variable> vars;
  std::vector<std::pair<Number, Number>> limits;
  std::vector<std::tuple<unsigned, std::size_t, std::size_t>> kinds;
  std::size_t below = 0, above = 0;
};

TEST(PopsolverModel, AsGoodAsTryingEverything) {
  unsigned solved = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    Both both(seed);
    both.build();
    const std::size_t first = both.vars.size() - 1, second = 3;
    std::optional<std::pair<Number, Number>> best;
    for (Number a = both.limits[0].first; a <= both.limits[0].second; ++a)
      for (Number b = both.limits[1].first; b <= both.limits[1].second; ++b)
        for (Number c = both.limits[2].first; c <= both.limits[2].second; ++c)
          if (const auto v = both.all_of({a, b, c})) {
            const std::pair cost((*v)[first], (*v)[second]);
            if (!best || cost < *best) best = cost;
          }
    const Solution s = both.model.minimize({both.vars[first], both.vars[second]});
    ASSERT_EQ(s.validSolution(), best.has_value()) << "seed " << seed;
    if (!best) continue;
    ++solved;
    EXPECT_EQ(std::pair(*s[both.vars[first]], *s[both.vars[second]]), *best) << "seed " << seed;
    EXPECT_EQ(both.all_of(values(s, {both.vars[0], both.vars[1], both.vars[2]})), values(s, both.vars)) << "seed " << seed;
  }
  EXPECT_GT(solved, 200u);
}

}  // namespace
}  // namespace gccs::popsolver
