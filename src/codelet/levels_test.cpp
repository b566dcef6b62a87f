// Code for several levels of processors in one file: which is loaded, that results have the same bits, and what is rejected.
#include <algorithm>

#include "codelet/library_test.h"
#include "codelet/store/cache.h"
#include "codelet/store/cpu_features.h"

namespace pando {
namespace {

using ::testing::Contains, ::testing::Not;

constexpr const char* kSource = R"(#include <poplar/Vertex.hpp>
#include <cmath>
using namespace poplar;
class Mixed : public Vertex {
 public:
  Input<Vector<float>> in; InOut<Vector<float>> out;
  void compute() {
    for (unsigned i = 0; i < out.size(); ++i) out[i] = in[i] * 3.1f + out[i] / 7.3f;
    float sum = 0;
    for (unsigned i = 0; i < out.size(); ++i) {
      const half h = half(in[i]) * half(in[i]) + half(out[i]);
      sum += in[i] * out[i] - float(h);
    }
    out[0] = sum;
  } };)";

// The tests need a processor with the first levels of x86-64.
class LevelsTest : public LibraryTest {
 protected:
  void SetUp() override {
    if (processor_levels().size() < 3 || !missing_cpu_features(processor_levels()[1].features).empty()) GTEST_SKIP() << "not an x86-64-v3";
  }
  ~LevelsTest() override { unsetenv("PANDO_VECTORS"); }

  PopcResult popc(const std::vector<std::string>& flags, const std::string& text = kSource) {
    std::vector<std::string> arguments = flags;
    arguments.push_back("-");
    return run_popc(arguments, text);
  }

  std::string made_;

  // What Mixed makes of 37 numbers.
  std::vector<float> results(const std::string& gp) {
    Library library;
    library.load_bytes(gp, "mixed.gp");
    std::vector<float> in(37), out(37);
    for (std::size_t i = 0; i < in.size(); ++i) {
      in[i] = std::sin(static_cast<float>(i)) * 5;
      out[i] = std::cos(static_cast<float>(i) * 3) / 3;
    }
    struct {
      float* in;
      std::size_t in_size;
      float* out;
      std::size_t out_size;
    } vertex{in.data(), in.size(), out.data(), out.size()};
    run(*library.find("Mixed"), &vertex);
    return out;
  }
};

TEST_F(LevelsTest, TheBestThatTheHostRunsAndTheUserAllowsIsLoaded) {
  const PopcResult made = popc({"--levels=x86-64-v3,x86-64-v2,x86-64-v4"});
  ASSERT_TRUE(made.ok) << made.messages;
  const GpDescription d = read_gp(made.gp, "mixed.gp").description;
  ASSERT_EQ(d.objects.size(), 3u);
  const auto chosen = [&](const char* vectors) {
    vectors ? setenv("PANDO_VECTORS", vectors, 1) : unsetenv("PANDO_VECTORS");
    const GpObject* const best = best_object(d);
    EXPECT_EQ(best ? best->level : "", level_in_use());
    return best ? best->level : "";
  };
  EXPECT_EQ(chosen("ssse3"), "x86-64-v2");
  EXPECT_EQ(chosen("avx2"), "x86-64-v3");
  EXPECT_EQ(chosen(nullptr), missing_cpu_features(processor_levels()[2].features).empty() ? "x86-64-v4" : "x86-64-v3");
  EXPECT_EQ(chosen("avx9"), chosen(nullptr));
  EXPECT_THAT(describe(d), AllOf(HasSubstr("code for x86-64-v2 "), HasSubstr("code for x86-64-v3 "), HasSubstr("code for x86-64-v4 ")));
  // What each needs is what its instructions need.
  EXPECT_THAT(d.objects[0].cpu_features, Not(Contains("avx")));
  EXPECT_THAT(d.objects[1].cpu_features, AllOf(Contains("avx2"), Contains("f16c"), Not(Contains("avx512f"))));
  EXPECT_THAT(d.objects[2].cpu_features, Contains("avx512f"));
}

TEST_F(LevelsTest, ResultsHaveTheSameBitsAtEveryLevel) {
  const PopcResult made = popc({"--levels=x86-64-v2,x86-64-v3"}), native = popc({});
  ASSERT_TRUE(made.ok && native.ok) << made.messages << native.messages;
  setenv("PANDO_VECTORS", "ssse3", 1);
  const std::vector<float> low = results(made.gp);
  unsetenv("PANDO_VECTORS");
  EXPECT_EQ(std::memcmp(low.data(), results(made.gp).data(), low.size() * sizeof(float)), 0);
  EXPECT_EQ(std::memcmp(low.data(), results(native.gp).data(), low.size() * sizeof(float)), 0);
}

TEST_F(LevelsTest, InstructionsAreThoseOfTheLevel) {
  const std::string source = write("mixed.cpp", kSource);
  // Names of registers and instructions that its assembly has.
  const auto has = [&](const std::string& flags, const std::string& text) {
    const std::string name = (folder_ / "mixed.s").string();
    if (flags != made_) EXPECT_EQ(std::system((popc_ + " -S " + flags + " " + source + " -o " + name).c_str()), 0);
    made_ = flags;
    return read_file(name)->find(text) != std::string::npos;
  };
  const char *const v2 = "--levels=x86-64-v2", *const v3 = "--levels=x86-64-v3", *const v4 = "--levels=x86-64-v2,x86-64-v4";
  EXPECT_TRUE(has(v2, "mulps") && !has(v2, "vmulps") && !has(v2, "%ymm"));
  EXPECT_TRUE(has(v3, "%ymm") && has(v3, "vcvtps2ph") && !has(v3, "vfmadd") && !has(v3, "{%k"));
  EXPECT_TRUE(has(v4, "{%k") && !has(v4, "vfmadd"));
}

// Partial files know their front end's processor: linked for levels, or for this host alone.
TEST_F(LevelsTest, PartialFilesAreLinkedForLevels) {
  const std::string source = write("mixed.cpp", kSource);
  const auto partial = [&](const std::string& flags, const std::string& name) {
    EXPECT_EQ(std::system((popc_ + " -c " + flags + " " + source + " -o " + (folder_ / name).string()).c_str()), 0);
    return (folder_ / name).string();
  };
  const std::string general = partial("--levels=x86-64-v2", "general.gp"), native = partial("", "native.gp");
  const PopcResult linked = run_popc({general}, ""), both = run_popc({"--levels=x86-64-v2,x86-64-v3", general}, "");
  ASSERT_TRUE(linked.ok && both.ok) << linked.messages << both.messages;
  EXPECT_EQ(read_gp(linked.gp, "linked").description.objects.at(0).cpu_features, host_cpu_features());
  EXPECT_EQ(results(linked.gp), results(both.gp));
  const PopcResult rejected = run_popc({"--levels=x86-64-v2", native}, "");
  EXPECT_FALSE(rejected.ok);
  EXPECT_THAT(rejected.messages, HasSubstr("was compiled for this processor and --levels wants code for x86-64-v2"));
}

// An attribute of the source stays, at any level.
TEST_F(LevelsTest, WhatASourceSaysOfAFunctionStays) {
  const std::string source = write("own.cpp", R"(#include <poplar/Vertex.hpp>
    using namespace poplar;
    __attribute__((noinline, target("avx2,fma"))) void own(const float* in, float* out) { for (int i = 0; i < 64; ++i) out[i] += in[i]; }
    class V : public Vertex { public: Input<Vector<float>> in; InOut<Vector<float>> out; void compute() { own(&in[0], &out[0]); } };)");
  const std::string text = (folder_ / "own.s").string();
  ASSERT_EQ(std::system((popc_ + " -S --levels=x86-64-v2 " + source + " -o " + text).c_str()), 0);
  EXPECT_THAT(*read_file(text), HasSubstr("%ymm"));
}

TEST_F(LevelsTest, CodeOfABetterProcessorIsCompiledAgainForThisOne) {
  PopcResult made = popc({"--levels=x86-64-v4"});
  ASSERT_TRUE(made.ok) << made.messages;
  GpFile gp = read_gp(made.gp, "mixed.gp");
  gp.description.objects.at(0).cpu_features.push_back("an-extension-of-the-future");
  const PopcResult native = popc({});
  EXPECT_EQ(results(write_gp(gp)), results(native.gp));
}

TEST_F(LevelsTest, WrongLevelsAreRejected) {
  const auto message = [&](const std::vector<std::string>& flags) { return popc(flags).messages; };
  EXPECT_THAT(message({"--levels=x86-64-v9"}),
              AllOf(HasSubstr("'x86-64-v9' was found"), HasSubstr("levels: x86-64-v2, x86-64-v3, x86-64-v4")));
  EXPECT_THAT(message({"--levels=x86-64-v2,x86-64-v2"}), HasSubstr("a comma list of different levels was expected"));
  EXPECT_THAT(message({"--levels="}), HasSubstr("'' was found"));
  EXPECT_THAT(message({"--levels=x86-64-v2", "-march=haswell"}), HasSubstr("both -march and --levels"));
}

// Of another architecture there is a compiler here, but no headers: C that includes nothing.
TEST_F(LevelsTest, CodeOfAnotherArchitecture) {
  const std::string source = write("one.c", "int one(int x) { return x + 1; }\n"), partial = (folder_ / "one.gp").string();
  const std::string flags = " --triple=aarch64-linux-gnu --sysroot=" + folder_.string();
  ASSERT_EQ(std::system((popc_ + " -c" + flags + " " + source + " -o " + partial).c_str()), 0);
  const PopcResult linked = run_popc({partial}, "");
  EXPECT_FALSE(linked.ok);
  EXPECT_THAT(linked.messages, HasSubstr("the code was compiled for aarch64, for x86_64 was expected"));
  EXPECT_THAT(run_popc({"--triple=aarch64-linux-gnu", partial}, "").messages, HasSubstr("--triple was given alone"));
  EXPECT_THAT(run_popc({"--levels=x86-64-v2", "--triple=aarch64-linux-gnu", "--sysroot=/", partial}, "").messages,
              HasSubstr("both --triple and --levels"));
  EXPECT_THAT(run_popc({"--triple=aarch64-linux-gnu", "--sysroot=" + folder_.string(), partial}, "").messages,
              HasSubstr("no library 'libstdc++.so.6' in " + folder_.string()));
}

// Sizes that do not add up to the code that is there.
TEST_F(LevelsTest, SizesThatDoNotFitAreRejected) {
  const PopcResult made = popc({"--levels=x86-64-v2,x86-64-v3"});
  ASSERT_TRUE(made.ok) << made.messages;
  GpFile gp = read_gp(made.gp, "mixed.gp");
  EXPECT_EQ(write_gp(gp), made.gp);
  gp.description.objects.at(1).code.clear();
  gp.description.objects.at(1).cpu_features.clear();
  EXPECT_THROW(Library().load_bytes(write_gp(gp), "mixed.gp"), poplar::graph_object_load_error);
}

}  // namespace
}  // namespace pando
