// Golden texts of all passes: tests/golden/transform/PASS.txt is a module, a line "# after PASS", and what the pass makes of it. The module
// is written by hand, the rest by the pass: PANDO_BLESS=1 build/bin/test_transform --gtest_filter='golden*' rewrites it. A pass is what
// docs/level/transforms.md lists; one without a text or without its line here fails.
#include "base/testing/golden.h"
#include "base/testing/places.h"
#include "ir/checks/verify.h"
#include "ir/construction/builder.h"
#include "ir/text/parse.h"
#include "ir/text/print.h"
#include "transform/ambiguity.h"
#include "transform/code_liveness.h"
#include "transform/devices/complete_places.h"
#include "transform/devices/merge_exchange.h"
#include "transform/devices/place_calls.h"
#include "transform/devices/unroll_pmap.h"
#include "transform/distribute/annotate.h"
#include "transform/distribute/parallelise.h"
#include "transform/expand.h"
#include "transform/flatten_tuples.h"
#include "transform/gradient/autodiff.h"
#include "transform/prune.h"
#include "transform/schedule.h"
#include "transform/testing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>

namespace pando::transform::testing {

using namespace ir;

namespace {

// Of a file of the tree.
std::string contents(const std::string& path) {
  std::ifstream file(source_path(path));
  EXPECT_TRUE(file) << "no file " << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string valid(const Module& m) {
  EXPECT_EQ(to_string(verify(m)), "");
  return print(m);
}

template <class Pass>
std::string changed(Module m, Pass pass) {
  pass(m);
  return valid(m);
}

// What passes over modules give: a module, or a report.
const std::map<std::string, std::string (*)(const Module&)> kPasses = {
    {"decompose_sum", [](const Module& m) { return changed(m, [](Module& x) { decompose_sum(x, x.main_graph()); }); }},
    {"expand", [](const Module& m) { return changed(m, [](Module& x) { expand(x); }); }},
    {"flatten_tuples", [](const Module& m) { return changed(m, flatten_tuples); }},
    {"prune", [](const Module& m) { return changed(m, [](Module& x) { prune(x); }); }},
    {"place_calls", [](const Module& m) { return changed(m, place_calls); }},
    {"complete_places", [](const Module& m) { return changed(m, complete_places); }},
    {"merge_exchange",
     [](const Module& m) {
       return changed(m, [](Module& x) { merge_exchange(x, x.main_graph(), 0, x.graph(x.main_graph()).ops.size()); });
     }},
    {"schedule", [](const Module& m) { return changed(m, schedule); }},
    {"unroll_pmap", [](const Module& m) { return valid(unroll_pmap(m)); }},
    {"parallelise",
     [](const Module& m) {
       return valid(parallelise(annotate(m, {.batch = {{"x", 0}, {"z", 0}}}), {.data = 2, .first_device = 1}).module);
     }},
    {"code_liveness", [](const Module& m) { return to_string(m, code_liveness(m)); }},
};

// Passes over what a builder knows: tensors and their order. What they are given is the module that `build` makes.
struct BuilderPass {
  void (*build)(Builder&);
  std::string (*run)(Builder&);
};

const Type kPair = tensor_type(DType::float32, {2}, {Device::numbered(0), TileSet::compute});

const std::map<std::string, BuilderPass> kBuilderPasses = {
    {"autodiff",
     {[](Builder& b) {
        Made inner(b, "square");
        const TensorId t = inner.in("t", kPair);
        inner.out(inner.op("mul", {t, t}));
        Made f(b, "f");
        const TensorId x = f.in("x", kPair), w = f.in("w", kPair);
        const TensorId h = f.op("tanh", {f.op("mul", {x, w})});
        f.out(f.op("add", {f.op("call", {h}, {}, {inner.graph}), x}));
      },
      [](Builder& b) {
        autodiff(b, *b.module().graph_named("f"));
        b.finish();
        return valid(b.module());
      }}},
    {"ambiguity",
     {[](Builder& b) {
        Made f(b, "f");
        const TensorId x = f.in("x", kPair), w = f.in("w", kPair);
        f.op("exp", {x});
        f.op("add", {x, w}, {}, {}, true);
        f.out(f.op("mul", {x, w}));
      },
      [](Builder& b) {
        std::string text;
        for (const Ambiguity& a : ambiguities(b)) {
          text += fmt::format("{} '{}' modifies '{}'; {} '{}' uses it, and nothing says in which order\n", b.module().row(a.modifies).name,
                              b.module().name_of(a.modifies), b.id_of(a.tensor), b.module().row(a.other).name, b.module().name_of(a.other));
        }
        return text;
      }}},
};

std::string name_of_golden(const std::string& pass) { return "transform/" + pass + ".txt"; }

void expect_golden(const std::string& pass, const std::string& before, const std::string& after) {
  pando::expect_golden(name_of_golden(pass), before + "# after " + pass + "\n" + after);
}

// The first column of the table.
std::map<std::string, std::string> listed_passes() {
  const std::string page = contents("docs/level/transforms.md");
  const std::regex line("\\n\\| (\\w+) \\| `([\\w/.]+)` \\|");
  std::map<std::string, std::string> all;
  for (std::sregex_iterator it(page.begin(), page.end(), line), end; it != end; ++it) all[(*it)[1]] = (*it)[2];
  return all;
}

}  // namespace

TEST(golden, passes_over_modules) {
  for (const auto& [pass, run] : kPasses) {
    SCOPED_TRACE(pass);
    const std::string text = read_golden(name_of_golden(pass)), mark = "# after " + pass + "\n";
    const std::size_t end = text.find(mark);
    ASSERT_NE(end, std::string::npos);
    const std::string before = text.substr(0, end);
    const Module m = parse(before, pass + ".txt");
    const std::string after = run(m);
    EXPECT_NE(after, print(m)) << "the text does not show what the pass does";
    expect_golden(pass, before, after);
  }
}

TEST(golden, passes_over_builders) {
  for (const auto& [pass, p] : kBuilderPasses) {
    SCOPED_TRACE(pass);
    Builder b;
    p.build(b);
    b.finish();
    const std::string before = valid(b.module());
    expect_golden(pass, before, p.run(b));
  }
}

TEST(golden, every_pass_has_a_text) {
  const auto listed = listed_passes();
  EXPECT_GE(listed.size(), 12u);
  // Where passes lie; of `distribute`, which has a page of its own, the one that is a pass is listed by its path.
  const std::string folder = source_path("src/transform");
  std::set<std::string> headers;
  for (const char* part : {"", "/devices", "/gradient"}) {
    for (const auto& entry : std::filesystem::directory_iterator(folder + part)) headers.insert(entry.path().filename());
  }
  for (const auto& [pass, header] : listed) {
    EXPECT_TRUE(kPasses.contains(pass) || kBuilderPasses.contains(pass))
        << "docs/level/transforms.md lists the pass " << pass << ", which has no golden text";
    EXPECT_TRUE(headers.contains(header) || std::filesystem::exists(folder + "/" + header)) << header;
  }
  // Headers that are no passes.
  const std::set<std::string> parts = {"cloner.h",   "gradient_graph.h", "host_data.h", "missing_gradient.h", "numeric_gradient.h",
                                       "ops_list.h", "steps.h",          "testing.h",   "unless_rejected.h"};
  for (const std::string& name : headers) {
    if (!name.ends_with(".h") || parts.contains(name)) continue;
    EXPECT_TRUE(std::any_of(listed.begin(), listed.end(), [&](const auto& p) { return p.second == name; }))
        << "docs/level/transforms.md lists no pass of " << name;
  }
  // What a session dumps.
  const std::string session = contents("src/session/session.cpp");
  const std::regex dumped("dump\\.after\\(\"(\\w+)\"");
  std::size_t dumps = 0;
  for (std::sregex_iterator it(session.begin(), session.end(), dumped), end; it != end; ++it, ++dumps) {
    if ((*it)[1] != "build") EXPECT_TRUE(listed.contains((*it)[1])) << (*it)[1];
  }
  EXPECT_GE(dumps, 5u);
}

}  // namespace pando::transform::testing
