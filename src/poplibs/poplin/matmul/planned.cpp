#include "poplibs/poplin/matmul/planned.h"

#include <poputil/exceptions.hpp>

#include <map>
#include <tuple>

#include "poplibs/poplin/plan/planning_cache.h"
#include "poplibs/poputil/reject.h"

namespace poplin::internal::matmul {
namespace {

std::string text_of(const Shape& shape) {
  std::string out = "{";
  for (std::size_t i = 0; i < shape.size(); ++i) out += (i == 0 ? "" : ",") + std::to_string(shape[i]);
  return out + "}";
}

bool is_floating(const poplar::Type& type) { return type == poplar::FLOAT || type == poplar::HALF; }

using Key =
    std::tuple<poplar::Target, std::size_t, std::size_t, std::size_t, std::size_t, std::string, std::string, std::string, double, int>;
using Table = std::map<Key, ProductPlan>;

// Of products that are looked at as another pass of a layer: nobody asked for these, so that they do not count as plans of the cache.
struct OtherPasses {
  Table plans;
  std::size_t size() const { return 0; }
};

Key key_of(const Problem& p, const poplar::Target& target) {
  return {target,
          p.groups,
          p.m,
          p.n,
          p.k,
          p.input.toString(),
          p.output.toString(),
          p.options.partials.toString(),
          p.options.memory_proportion,
          static_cast<int>(p.options.objective)};
}

}  // namespace

Problem problem_of(const std::string& function, const poplar::Type& input, const poplar::Type& output, const Shape& a, const Shape& b,
                   const poplar::OptionFlags& flags) {
  const auto fail = [&function](const std::string& text) { poputil::reject("product-operands", "{}", function + ": " + text); };
  if (!is_floating(input)) fail("operands are of type " + input.toString() + ", expected float or half");
  if (!is_floating(output)) fail("the result is of type " + output.toString() + ", expected float or half");
  const std::string shapes = "A has shape " + text_of(a) + ", B has shape " + text_of(b);
  if (a.size() != 3 || b.size() != 3) fail(shapes + ": expected matrices, of one rank");
  if (a[0] != b[0]) fail(shapes + ": expected as many groups in both");
  if (a[2] != b[1]) fail(shapes + ": expected as many columns of A as rows of B");
  // Planning goes through blocks of matrices: sizes that no machine has end here, not after an age.
  constexpr std::size_t kLongest = 0x7fffffff, kMostElements = std::size_t{1} << 40;
  const auto is_too_large = [](std::initializer_list<std::size_t> sizes) {
    unsigned __int128 elements = 1;
    for (const std::size_t n : sizes)
      if (n > kLongest || (elements *= n) > kMostElements) return true;
    return false;
  };
  if (is_too_large({a[0], a[1], a[2]}) || is_too_large({a[0], b[1], b[2]}) || is_too_large({a[0], a[1], b[2]}))
    fail(shapes + ": expected at most 2^40 elements in each and in the product, and 2^31 - 1 along each dimension");
  Problem p;
  p.groups = a[0], p.m = a[1], p.k = a[2], p.n = b[2];
  p.input = input;
  p.output = output;
  p.options = parse_options(flags);
  if (input == poplar::FLOAT) p.options.partials = poplar::FLOAT;
  return p;
}

ProductPlan plan_of(const Problem& problem, const poplar::Target& target, poplin::PlanningCache* cache, Pass pass) {
  if (cache == nullptr) return make_plan(problem, target);
  Table& asked_for = cache->impl->table<Table>();
  Table& others = cache->impl->table<OtherPasses>().plans;
  const Key key = key_of(problem, target);
  if (const auto found = asked_for.find(key); found != asked_for.end()) return found->second;
  const auto other = others.find(key);
  const ProductPlan plan = other != others.end() ? other->second : make_plan(problem, target);
  (pass == Pass::forward ? asked_for : others).emplace(key, plan);
  return plan;
}

}  // namespace poplin::internal::matmul
