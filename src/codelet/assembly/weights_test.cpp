// Products with common compute weights, random bits and supervisors, on random operands, against what they are for: a product of a matrix
// and a vector, a convolution along a row, frequencies and moments, one run of each worker.
#include <bit>
#include <functional>
#include <map>
#include <random>
#include <span>

#include "base/element_type.h"
#include "codelet/assembly/assembly_test.h"

namespace pando {
namespace {

constexpr unsigned kWorkers = 6, kWeightWords = 128, kInWords = 1024, kOutWords = 1024;  // out: of each worker

std::uint32_t as_word(float f) { return std::bit_cast<std::uint32_t>(f); }

// A supervisor that loads 64 weights of 8 bytes, and workers that all run `code`: $m0 is at the words behind the weights, $m1 at their own
// results, accumulators are zero.
std::string supervised(const std::string& name, const std::string& code, unsigned bytes_of_load) {
  std::string out = ".section .text." + name + "\n.globl __runCodelet_" + name + "\n.supervisor\n__runCodelet_" + name +
                    ":\n  ld32 $m1, $m0, $mzero, 0\n  put $CCCSLOAD, $m1\n";
  for (unsigned k = 0; k < 64; k += bytes_of_load / 8)
    out += "  ld" + std::to_string(8 * bytes_of_load) + "putcs " + std::to_string(k) + "\n";
  out += "  setzi $m2, .Lworker_" + name + "\n  runall $m2, $m0, 0\n  sync TEXCH_SYNCZONE_LOCAL\n  br $lr\n.worker\n.Lworker_" + name +
         ":\n  get $m4, $WSR\n  and $m4, $m4, 7\n  mul $m4, $m4, " + std::to_string(4 * kOutWords) +
         "\n  ld32 $m0, $mvertex_base, $mzero, 0\n  add $m0, $m0, " + std::to_string(4 * kWeightWords) +
         "\n  ld32 $m1, $mvertex_base, $mzero, 1\n  add $m1, $m1, $m4\n  setzi $a0, 8\n  uput $FP_CLR, $a0\n" + code + "  exitz $mzero\n";
  return "#include \"arch/gc_tile_defines.h\"\n#include \"poplar/TileConstants.hpp\"\n" + out;
}

class Weights : public Assembly {
 protected:
  using Words = std::vector<std::uint32_t>;
  struct Job {
    std::string code;
    Words in;
    std::function<void(std::span<const std::uint32_t>)> check;  // what a worker stores
    unsigned worker = 0, load = 8;
  };
  void add(std::string code, Words in, std::function<void(std::span<const std::uint32_t>)> check, unsigned worker = 0, unsigned load = 8) {
    jobs_.push_back({std::move(code), std::move(in), std::move(check), worker, load});
  }
  // One module for all of them: starting the compiler is what takes time.
  void run_all() {
    std::string cpp, code;
    for (std::size_t j = 0; j < jobs_.size(); ++j) {
      const std::string name = "Job" + std::to_string(j);
      cpp += "class " + name +
             " : public SupervisorVertex {\n public:\n  Input<Vector<unsigned, VectorLayout::ONE_PTR, 16>> in;\n"
             "  Output<Vector<unsigned, VectorLayout::ONE_PTR, 16>> out;\n  static const bool isExternalCodelet = true;\n};\n";
      code += supervised(name, jobs_[j].code, jobs_[j].load);
    }
    const Library library = assembled(cpp, code, "-O0 -fno-count");
    for (std::size_t j = 0; j < jobs_.size(); ++j) {
      AssembledVertex v(*library.find("Job" + std::to_string(j)));
      const auto input = v.edge<std::uint32_t>("in", kInWords), output = v.edge<std::uint32_t>("out", kWorkers * kOutWords);
      ASSERT_LE(jobs_[j].in.size(), kInWords);
      std::copy(jobs_[j].in.begin(), jobs_[j].in.end(), input.begin());
      v.run();
      jobs_[j].check(output.subspan(jobs_[j].worker * kOutWords, kOutWords));
    }
  }

  // Small integers: sums and products of them are exact.
  float number() { return static_cast<float>(static_cast<int>(random_() % 9) - 4); }
  std::vector<float> numbers(std::size_t n) {
    std::vector<float> out(n);
    for (float& x : out) x = number();
    return out;
  }
  static void add_halves(std::vector<std::uint32_t>& words, std::span<const float> x) {
    for (std::size_t i = 0; i < x.size(); i += 2)
      words.push_back(half_from_float(x[i]) | static_cast<std::uint32_t>(half_from_float(x[i + 1])) << 16);
  }
  static void add_floats(std::vector<std::uint32_t>& words, std::span<const float> x) {
    for (const float f : x) words.push_back(as_word(f));
  }
  // A number of a result: floats, or halves.
  static float lane(std::span<const std::uint32_t> words, std::size_t word, unsigned i, bool is_half) {
    if (!is_half) return std::bit_cast<float>(words[word + i]);
    return float_from_half(static_cast<std::uint16_t>(words[word + i / 2] >> (16 * (i % 2))));
  }

  std::mt19937 random_{20261127};
  std::vector<Job> jobs_;
};

// A form of the instructions for products.
struct Form {
  const char* name;
  bool halves_in, halves_of_partials, halves_out;
  unsigned sets;
};

std::string step(const Form& f, const std::string& flags) {
  const unsigned partial_words = f.halves_of_partials ? f.sets : 2 * f.sets, out_words = f.halves_out ? f.sets : 2 * f.sets;
  const bool one_float = !f.halves_in;
  const auto load = [](unsigned words, unsigned to) {
    return words == 1 ? "  ld32step $a" + std::to_string(to) + ", $mzero, $m0+=, 1\n"
                      : "  ld32step $a" + std::to_string(to) + ", $mzero, $m0+=, 1\n  ld32step $a" + std::to_string(to + 1) +
                            ", $mzero, $m0+=, 1\n";
  };
  const unsigned partials = one_float ? 2 : partial_words, out = one_float ? 2 : out_words;
  const std::string in_register = one_float ? "$a0" : "$a0:1", partial_register = partials == 1 ? "$a2" : "$a2:3",
                    out_register = out == 1 ? "$a4" : "$a4:5";
  std::string text = load(one_float ? 1 : 2, 0) + load(partials, 2) + "  " + f.name + " " + out_register + ", " + in_register + ", " +
                     partial_register + ", " + flags + "\n  st32step $a4, $mzero, $m1+=, 1\n";
  if (out == 2) text += "  st32step $a5, $mzero, $m1+=, 1\n";
  return text;
}

// Vectors, one after the other: the partial sums of a vector go in with the inputs of the one before, and come out with the inputs of the
// one behind.
TEST_F(Weights, AmpIsAMatrixTimesAVectorPlusPartialSums) {
  const Form forms[] = {{"f16v4sisoamp", true, false, false, 1}, {"f16v4hihoamp", true, true, true, 1},
                        {"f16v4sihoamp", true, false, true, 1},  {"f16v4hihov4amp", true, true, true, 2},
                        {"f32sisoamp", false, false, false, 1},  {"f32sisov2amp", false, false, false, 2}};
  constexpr unsigned kVectors = 4;
  for (const Form& f : forms)
    for (const unsigned pairs : {1u, 2u, 4u}) {
      const unsigned phases = f.halves_in ? pairs : 2 * pairs, outputs = 2 * pairs, inputs = f.halves_in ? 4 * pairs : 2 * pairs;
      // weight[unit][j]: of output `unit` (8 and more: the second set) and input j.
      std::vector<std::vector<float>> weight(16, numbers(f.halves_in ? 16 : 8));
      for (auto& row : weight) row = numbers(row.size());
      std::vector<std::uint32_t> words;
      for (const auto& row : weight) f.halves_in ? add_halves(words, row) : add_floats(words, row);
      ASSERT_EQ(words.size(), kWeightWords);
      // Of each vector: inputs, and partial sums [set][output].
      std::vector<std::vector<float>> x, partial;
      for (unsigned v = 0; v < kVectors; ++v) x.push_back(numbers(inputs)), partial.push_back(numbers(2 * 8));
      std::string code;
      struct Taken {
        std::size_t word;
        unsigned vector, phase;
      };
      std::vector<Taken> taken;
      const unsigned out_words = !f.halves_in ? 2 : f.halves_out ? f.sets : 2 * f.sets;
      for (unsigned group = 0; group < kVectors + 2; ++group)
        for (unsigned p = 0; p < phases; ++p) {
          const bool has_input = group >= 1 && group <= kVectors, has_partial = group < kVectors;
          const std::vector<float> none(16, 0.0f);
          const std::vector<float>& in = has_input ? x[group - 1] : none;
          const std::vector<float>& sums = has_partial ? partial[group] : none;
          if (f.halves_in) {
            add_halves(words, std::span(in).subspan(4 * p * has_input, 4));
            std::vector<float> own = {sums[2 * p], sums[2 * p + 1]};
            if (f.sets == 2) own.insert(own.end(), {sums[8 + 2 * p], sums[8 + 2 * p + 1]});
            f.halves_of_partials ? add_halves(words, own) : add_floats(words, own);
          } else {
            add_floats(words, std::span(in).subspan(p * has_input, 1));
            const unsigned set = p % 2;  // of one set: pairs come in even phases
            const bool enters = set < f.sets;
            add_floats(words, std::vector<float>{enters ? sums[8 * set + p / 2 * 2] : 0, enters ? sums[8 * set + p / 2 * 2 + 1] : 0});
          }
          if (group >= 2) taken.push_back({(group * phases + p) * out_words, group - 2, p});
          code += step(f, std::to_string(pairs * 16 + p));
        }
      const auto sum = [=](unsigned v, unsigned set, unsigned output) {
        float all = partial[v][8 * set + output];
        for (unsigned j = 0; j < inputs; ++j) all += weight[8 * set + output][j] * x[v][j];
        return all;
      };
      add(code, words, [=](std::span<const std::uint32_t> out) {
        SCOPED_TRACE(f.name + std::string(", pairs of engines: ") + std::to_string(pairs));
        for (const Taken& t : taken)
          for (unsigned set = 0; set < f.sets; ++set) {
            if (!f.halves_in && t.phase % 2 != set) continue;
            const unsigned first = f.halves_in ? 2 * t.phase : t.phase / 2 * 2;
            for (unsigned i = 0; i < 2; ++i) {
              ASSERT_LT(first + i, outputs);
              EXPECT_EQ(lane(out, t.word, (f.halves_in ? 2 * set : 0) + i, f.halves_out), sum(t.vector, set, first + i))
                  << "vector " << t.vector << ", set " << set << ", output " << first + i;
            }
          }
      });
    }
  run_all();
}

// Each result is a partial sum and the products of four inputs in a row, or three, with the weights of the taps.
TEST_F(Weights, SlicIsAConvolutionAlongARow) {
  const Form forms[] = {{"f16v4sisoslic", true, false, false, 1},
                        {"f16v4hihoslic", true, true, true, 1},
                        {"f16v4sihoslic", true, false, true, 1},
                        {"f16v4hihov4slic", true, true, true, 2}};
  constexpr unsigned kInputs = 12;
  for (const Form& f : forms)
    for (const unsigned flags : {0u, 1u, 2u, 3u, 4u, 5u}) {
      const unsigned column = flags & 3, taps = flags & 4 ? 3 : 4;
      std::vector<std::vector<float>> weight(16);
      std::vector<std::uint32_t> words;
      for (auto& unit : weight) unit = numbers(16), add_halves(words, unit);
      std::vector<std::vector<float>> x, partial;
      std::string code;
      const unsigned out_words = f.halves_out ? f.sets : 2 * f.sets;
      for (unsigned n = 0; n < kInputs; ++n) {
        x.push_back(numbers(4)), partial.push_back(numbers(2 * f.sets));
        add_halves(words, x[n]);
        f.halves_of_partials ? add_halves(words, partial[n]) : add_floats(words, partial[n]);
        code += step(f, std::to_string(flags));
      }
      add(code, words, [=](std::span<const std::uint32_t> out) {
        SCOPED_TRACE(f.name + std::string(", flags ") + std::to_string(flags));
        for (unsigned n = 0; n + taps < kInputs; ++n)
          for (unsigned c = 0; c < 2 * f.sets; ++c) {
            float all = partial[n][c];
            for (unsigned tap = 0; tap < taps; ++tap) {
              const unsigned unit = 8 * (c / 2) + 2 * (taps - 1 - tap) + c % 2;
              for (unsigned i = 0; i < 4; ++i) all += x[n + tap][i] * weight[unit][4 * column + i];
            }
            EXPECT_EQ(lane(out, (n + taps) * out_words, c, f.halves_out), all) << "result " << n << ", channel " << c;
          }
      });
    }
  run_all();
}

TEST_F(Weights, LoadsOf16BytesAreTwoOf8) {
  std::vector<std::uint32_t> words;
  add_halves(words, numbers(2 * kWeightWords));
  for (unsigned n = 0; n < 8; ++n) add_halves(words, numbers(4)), add_floats(words, numbers(2));
  std::string code;
  for (unsigned n = 0; n < 8; ++n) code += step({"f16v4sisoslic", true, false, false, 1}, "2");
  Words by_eight;
  add(code, words, [&](std::span<const std::uint32_t> out) { by_eight.assign(out.begin(), out.end()); }, 0, 8);
  add(code, words, [&](std::span<const std::uint32_t> out) { EXPECT_EQ(by_eight, Words(out.begin(), out.end())); }, 0, 16);
  run_all();
  EXPECT_THAT(by_eight, testing::Contains(testing::Ne(0u)));
}

TEST_F(Weights, EachWorkerRunsOnceWithItsNumberAndItsAccumulators) {
  std::vector<std::uint32_t> words(kWeightWords, 0);
  words.push_back(as_word(1.5f));
  const std::string code = R"(  get $m4, $WSR
  and $m4, $m4, 7
  st32 $m4, $m1, $mzero, 0
  ld32 $a0, $m0, $mzero, 0
  or $a1, $azero, 0x3f800000
  f32mac $a0, $a1
  f32v2gina $a2:3, $azeros, 0
  st32 $a2, $m1, $mzero, 1
)";
  for (unsigned w = 0; w < kWorkers; ++w)
    add(
        code, words,
        [w](std::span<const std::uint32_t> out) {
          EXPECT_EQ(out[0], w);
          EXPECT_EQ(out[1], as_word(1.5f)) << "another worker's sum would be more";
        },
        w);
  run_all();
}

// The generator is not the hardware's, so its numbers are judged by what they should be alike.
TEST_F(Weights, RandomBitsAreFairAndFollowFromTheSeed) {
  constexpr unsigned kDraws = 400;
  std::map<std::string, Words> of;
  const auto draw = [&](const char* name, unsigned words, std::uint32_t seed, const std::string& as) {
    std::string code = "  ld32 $a0, $m0, $mzero, 0\n  uput $PRNG_SEED, $a0\n  setzi $m2, " + std::to_string(kDraws - 1) + "\n1:\n  " +
                       name + (words == 2 ? " $a0:1\n" : " $a0\n");
    for (unsigned k = 0; k < words; ++k) code += "  st32step $a" + std::to_string(k) + ", $mzero, $m1+=, 1\n";
    Words in(kWeightWords, 0);
    in.push_back(seed);
    add(code + "  brnzdec $m2, 1b\n", in,
        [&of, as, words](std::span<const std::uint32_t> out) { of[as].assign(out.begin(), out.begin() + words * kDraws); });
  };
  for (const auto& [name, words] : {std::pair("urand32", 1u), {"urand64", 2u}, {"f32v2grand", 2u}, {"f16v2grand", 1u}}) {
    draw(name, words, 7, name);
    draw(name, words, 7, name + std::string(" again"));
    draw(name, words, 8, name + std::string(" of another seed"));
  }
  run_all();
  for (const auto& [name, words] : {std::pair("urand32", 1u), {"urand64", 2u}, {"f32v2grand", 2u}, {"f16v2grand", 1u}}) {
    const Words& out = of[name];
    EXPECT_EQ(out, of[name + std::string(" again")]);
    EXPECT_NE(out, of[name + std::string(" of another seed")]);
    if (name[0] == 'u') {
      for (unsigned bit = 0; bit < 32; ++bit) {
        double ones = 0;
        for (const std::uint32_t w : out) ones += w >> bit & 1;
        EXPECT_NEAR(ones / static_cast<double>(out.size()), 0.5, 0.13) << name << ", bit " << bit;  // five deviations
      }
      continue;
    }
    double sum = 0, squares = 0;
    for (unsigned i = 0; i < 2 * kDraws; ++i) {
      const double x = words == 2 ? std::bit_cast<float>(out[i]) : lane(out, i / 2, i % 2, true);
      sum += x, squares += x * x;
    }
    EXPECT_NEAR(sum / (2 * kDraws), 0, 0.18) << name;  // five deviations
    EXPECT_NEAR(squares / (2 * kDraws), 1, 0.25) << name;
  }
}

TEST_F(Weights, MasksKeepEachLaneWithItsProbability) {
  constexpr unsigned kDraws = 400;
  for (const auto& [name, lanes] : {std::pair("f32v2rmask", 2u), {"f16v4rmask", 4u}})
    for (const std::uint32_t p : {0u, 0x10000u, 0x4000u, 0xc000u}) {
      const Words x = lanes == 2 ? Words{as_word(1.5f), as_word(-2.0f)} : Words{0x3c003d00u, 0xc0003e00u};
      Words in(kWeightWords, 0);
      in.insert(in.end(), {x[0], x[1], p, 5});
      const std::string code =
          "  ld64 $a0:1, $m0, $mzero, 0\n  ld32 $a2, $m0, $mzero, 2\n  ld32 $a3, $m0, $mzero, 3\n  uput $PRNG_SEED, $a3\n  setzi $m2, " +
          std::to_string(kDraws - 1) + "\n1:\n  " + name +
          " $a4:5, $a0:1, $a2\n  st32step $a4, $mzero, $m1+=, 1\n  st32step $a5, $mzero, $m1+=, 1\n  brnzdec $m2, 1b\n";
      add(code, in, [=](std::span<const std::uint32_t> out) {
        for (unsigned k = 0; k < lanes; ++k) {
          const unsigned word = lanes == 2 ? k : k / 2, shift = lanes == 2 ? 0 : 16 * (k % 2);
          const std::uint32_t mask = lanes == 2 ? ~0u : 0xffffu;
          unsigned kept = 0;
          for (unsigned i = 0; i < kDraws; ++i) {
            const std::uint32_t value = out[2 * i + word] >> shift & mask;
            EXPECT_TRUE(value == 0 || value == (x[word] >> shift & mask)) << name;
            kept += value != 0;
          }
          EXPECT_NEAR(kept / static_cast<double>(kDraws), p / 65536.0, p == 0 || p == 0x10000 ? 0 : 0.12) << name << " lane " << k;
        }
      });
    }
  run_all();
}

}  // namespace
}  // namespace pando
