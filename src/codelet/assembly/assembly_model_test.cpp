// Each instruction of workers on random operands, against a plain model of it. The rows come from popc: one without a model fails.
#include <bit>
#include <random>
#include <set>

#include "base/element_type.h"
#include "codelet/assembly/assembly_model.h"
#include "codelet/assembly/assembly_test.h"

namespace pando {
namespace {

using Words = std::vector<std::uint32_t>;
using Model = std::function<void(InstructionCase&)>;

float as_float(std::uint32_t w) { return std::bit_cast<float>(w); }
std::uint32_t as_word(float f) { return std::bit_cast<std::uint32_t>(f); }

// Lanes of an operand as floats; a suffix gives all lanes one value.
std::vector<float> lanes(const InstructionCase& c, std::size_t i, bool is_half, std::size_t count = 0) {
  std::vector<float> out;
  for (const std::uint32_t w : c.in[i]) {
    if (is_half)
      for (const unsigned k : {0u, 16u}) out.push_back(float_from_half(static_cast<std::uint16_t>(w >> k)));
    else
      out.push_back(as_float(w));
  }
  const std::string& form = c.form[i];
  if (form.ends_with(":B") || form.ends_with(":BL")) out.assign(count, out[0]);
  if (form.ends_with(":BU")) out.assign(count, out[1]);
  return out;
}

Words words_of(const std::vector<float>& lanes, bool is_half) {
  Words out;
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    if (!is_half)
      out.push_back(as_word(lanes[i]));
    else if (i % 2 == 0)
      out.push_back(half_from_float(lanes[i]));
    else
      out.back() |= static_cast<std::uint32_t>(half_from_float(lanes[i])) << 16;
  }
  return out;
}

std::uint32_t byte(std::uint32_t w, unsigned i) { return w >> (8 * i) & 0xff; }
std::uint32_t of_bytes(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) { return a | b << 8 | c << 16 | d << 24; }

using Models = std::map<std::string, Model>;

void add_integers(Models& m) {
  const auto binary = [&](std::initializer_list<const char*> names, std::uint32_t (*of)(std::uint32_t, std::uint32_t)) {
    for (const char* name : names) m[name] = [of](InstructionCase& c) { c.out[0] = {of(c.in[1][0], c.in[2][0])}; };
  };
  using U = std::uint32_t;
  using I = std::int32_t;
  binary({"add", "adds", "addz"}, [](U a, U b) { return a + b; });
  binary({"sub", "subs", "subz"}, [](U a, U b) { return a - b; });
  binary({"mul"}, [](U a, U b) { return a * b; });
  binary({"and"}, [](U a, U b) { return a & b; });
  binary({"or"}, [](U a, U b) { return a | b; });
  binary({"andc"}, [](U a, U b) { return a & ~b; });
  binary({"xor"}, [](U a, U b) { return a ^ b; });
  binary({"xnor"}, [](U a, U b) { return ~(a ^ b); });
  binary({"cmpeq", "cmpeqs", "cmpeqz"}, [](U a, U b) -> U { return a == b; });
  binary({"cmpne"}, [](U a, U b) -> U { return a != b; });
  binary({"cmpslt"}, [](U a, U b) -> U { return static_cast<I>(a) < static_cast<I>(b); });
  binary({"cmpult"}, [](U a, U b) -> U { return a < b; });
  binary({"max", "maxs", "maxz"}, [](U a, U b) -> U { return static_cast<U>(std::max(static_cast<I>(a), static_cast<I>(b))); });
  binary({"min", "mins", "minz"}, [](U a, U b) -> U { return static_cast<U>(std::min(static_cast<I>(a), static_cast<I>(b))); });
  binary({"shl"}, [](U a, U n) -> U { return n < 32 ? a << n : 0; });
  binary({"shr"}, [](U a, U n) -> U { return n < 32 ? a >> n : 0; });
  binary({"shrs"}, [](U a, U n) -> U { return static_cast<U>(static_cast<I>(a) >> std::min(n, 31u)); });
  const auto unary = [&](const char* name, std::uint32_t (*of)(std::uint32_t)) {
    m[name] = [of](InstructionCase& c) { c.out[0] = {of(c.in[1][0])}; };
  };
  unary("abs", [](U a) -> U { return static_cast<I>(a) < 0 ? 0 - a : a; });
  unary("clz", [](U a) -> U { return static_cast<U>(std::countl_zero(a)); });
  unary("cms", [](U a) -> U {
    U n = 0;
    while (n < 31 && (a >> (30 - n) & 1) == a >> 31) ++n;
    return n;
  });
  unary("popc", [](U a) -> U { return static_cast<U>(std::popcount(a)); });
  unary("bitrev8", [](U a) {
    U out = 0;
    for (unsigned i = 0; i < 32; ++i) out |= (a >> i & 1) << (i / 8 * 8 + 7 - i % 8);
    return out;
  });
  unary("not", [](U a) { return ~a; });
  for (const char* name : {"mov", "not64"}) {
    const bool inverts = name[0] == 'n';
    m[name] = [=](InstructionCase& c) {
      c.out[0] = c.in[1];
      for (U& w : c.out[0]) w = inverts ? ~w : w;
    };
  }
  for (const char* name : {"atom", "setzi", "ldconst"}) m[name] = [](InstructionCase& c) { c.out[0] = {c.in[1][0]}; };
  m["zero"] = [](InstructionCase& c) { c.out[0].assign(c.in[0].size(), 0); };
  m["nop"] = m["fnop"] = [](InstructionCase&) {};
  m["movz"] = [](InstructionCase& c) { c.out[0] = c.in[1][0] == 0 ? c.in[2] : c.in[0]; };
  m["movnz"] = [](InstructionCase& c) { c.out[0] = c.in[1][0] != 0 ? c.in[2] : c.in[0]; };
  const auto wide = [&](const char* name, std::uint32_t (*of)(std::uint32_t, std::uint32_t)) {
    m[name] = [of](InstructionCase& c) { c.out[0] = {of(c.in[1][0], c.in[2][0]), of(c.in[1][1], c.in[2][1])}; };
  };
  wide("and64", [](U a, U b) { return a & b; });
  wide("or64", [](U a, U b) { return a | b; });
  wide("andc64", [](U a, U b) { return a & ~b; });
}

void add_shuffles(Models& m) {
  using C = InstructionCase;
  const auto low = [](std::uint32_t w) { return w & 0xffff; };
  const auto high = [](std::uint32_t w) { return w >> 16; };
  m["sort4x16lo"] = [=](C& c) { c.out[0] = {(c.form[1].ends_with(":BU") ? high(c.in[1][0]) : low(c.in[1][0])) | low(c.in[2][0]) << 16}; };
  m["sort4x16hi"] = [=](C& c) { c.out[0] = {(c.form[1].ends_with(":BL") ? low(c.in[1][0]) : high(c.in[1][0])) | high(c.in[2][0]) << 16}; };
  m["roll16"] = [=](C& c) { c.out[0] = {high(c.in[1][0]) | low(c.in[2][0]) << 16}; };
  m["swap16"] = [=](C& c) { c.out[0] = {high(c.in[1][0]) | low(c.in[1][0]) << 16}; };
  m["roll32"] = [](C& c) { c.out[0] = {c.in[1][1], c.in[2][0]}; };
  m["sort4x32lo"] = [](C& c) { c.out[0] = {c.in[1][0], c.in[2][0]}; };
  m["sort4x32hi"] = [](C& c) { c.out[0] = {c.in[1][1], c.in[2][1]}; };
  const auto bytes = [&](const char* name, std::array<unsigned, 4> which) {
    m[name] = [=](C& c) {
      const auto of = [&](unsigned k) { return which[k] < 4 ? byte(c.in[1][0], which[k]) : byte(c.in[2][0], which[k] - 4); };
      c.out[0] = {of_bytes(of(0), of(1), of(2), of(3))};
    };
  };
  bytes("shuf8x8lo", {0, 4, 1, 5});
  bytes("shuf8x8hi", {2, 6, 3, 7});
  bytes("sort8x8lo", {0, 2, 4, 6});
  bytes("sort8x8hi", {1, 3, 5, 7});
  bytes("roll8l", {3, 4, 5, 6});
  bytes("roll8r", {1, 2, 3, 4});
}

struct Shape {
  const char* name;
  std::size_t lanes;
  bool is_half;
};
constexpr Shape kShapes[] = {{"f32", 1, false}, {"f32v2", 2, false}, {"f16v2", 2, true}, {"f16v4", 4, true}};

void add_arithmetic(Models& m) {
  const auto binary = [&](const char* name, float (*of)(float, float)) {
    for (const Shape s : kShapes)
      m[s.name + std::string(name)] = [=](InstructionCase& c) {
        const std::vector<float> x = lanes(c, 1, s.is_half, s.lanes), y = lanes(c, 2, s.is_half, s.lanes);
        std::vector<float> out;
        for (std::size_t k = 0; k < s.lanes; ++k) out.push_back(of(x[k], y[k]));
        c.out[0] = words_of(out, s.is_half);
      };
  };
  binary("add", [](float a, float b) { return a + b; });
  binary("sub", [](float a, float b) { return a - b; });
  binary("mul", [](float a, float b) { return a * b; });
  binary("max", [](float a, float b) { return std::fmax(a, b); });
  binary("min", [](float a, float b) { return std::fmin(a, b); });
  binary("absadd", [](float a, float b) { return std::fabs(a) + std::fabs(b); });
  binary("absmax", [](float a, float b) { return std::fmax(std::fabs(a), std::fabs(b)); });
  const auto compare = [&](const char* name, bool (*of)(float, float)) {
    for (const Shape s : kShapes)
      m[s.name + std::string("cmp") + name] = [=](InstructionCase& c) {
        const std::vector<float> x = lanes(c, 1, s.is_half, s.lanes), y = lanes(c, 2, s.is_half, s.lanes);
        c.out[0].assign(c.in[0].size(), 0);
        for (std::size_t k = 0; k < s.lanes; ++k)
          if (of(x[k], y[k])) c.out[0][s.is_half ? k / 2 : k] |= s.is_half ? 0xffffu << (16 * (k % 2)) : ~0u;
      };
  };
  compare("eq", [](float a, float b) { return a == b; });
  compare("ne", [](float a, float b) { return a != b; });
  compare("lt", [](float a, float b) { return a < b; });
  compare("le", [](float a, float b) { return a <= b; });
  compare("gt", [](float a, float b) { return a > b; });
  compare("ge", [](float a, float b) { return a >= b; });
  for (const Shape s : kShapes) {
    m[s.name + std::string("clamp")] = [=](InstructionCase& c) {
      const std::vector<float> x = lanes(c, 1, s.is_half), range = lanes(c, 2, s.is_half);
      std::vector<float> out;
      for (const float v : x) out.push_back(std::fmin(std::fmax(v, range[0]), range[1]));
      c.out[0] = words_of(out, s.is_half);
    };
    m[s.name + std::string("class")] = [](InstructionCase& c) { c.out[0] = {0}; };  // of numbers
  }
  m["f32div"] = [](InstructionCase& c) { c.out[0] = {as_word(as_float(c.in[1][0]) / as_float(c.in[2][0]))}; };
  m["f16v2sum"] = [](InstructionCase& c) { c.out[0] = {as_word(lanes(c, 1, true)[0] + lanes(c, 1, true)[1])}; };
  m["f16v4sum"] = [](InstructionCase& c) {
    const std::vector<float> x = lanes(c, 1, true);
    c.out[0] = {as_word(x[0] + x[1]), as_word(x[2] + x[3])};
  };
  m["f16v2maxc"] = [](InstructionCase& c) { c.out[0] = {half_from_float(std::max(lanes(c, 1, true)[0], lanes(c, 1, true)[1]))}; };
  m["f16v4maxc"] = [](InstructionCase& c) {
    const std::vector<float> x = lanes(c, 1, true);
    c.out[0] = words_of({std::max(x[0], x[1]), std::max(x[2], x[3])}, true);
  };
}

void add_functions(Models& m) {
  const auto add = [&](const std::string& name, float (*of)(float), bool has_halves) {
    m["f32" + name] = [=](InstructionCase& c) { c.out[0] = {as_word(of(as_float(c.in[1][0])))}; };
    if (has_halves)
      m["f16v2" + name] = [=](InstructionCase& c) { c.out[0] = words_of({of(lanes(c, 1, true)[0]), of(lanes(c, 1, true)[1])}, true); };
  };
  add("exp", [](float x) { return std::exp(x); }, true);
  add("exp2", [](float x) { return std::exp2(x); }, true);
  add("ln", [](float x) { return std::log(x); }, true);
  add("log2", [](float x) { return std::log2(x); }, true);
  add("tanh", [](float x) { return std::tanh(x); }, true);
  add("sigm", [](float x) { return 1 / (1 + std::exp(-x)); }, true);
  add("sqrt", [](float x) { return std::sqrt(x); }, false);
  add("oox", [](float x) { return 1 / x; }, false);
  add("oorx", [](float x) { return 1 / std::sqrt(x); }, false);
}

void add_conversions(Models& m) {
  using C = InstructionCase;
  m["f16tof32"] = [](C& c) { c.out[0] = {as_word(lanes(c, 1, true)[0])}; };
  m["f32tof16"] = [](C& c) { c.out[0] = {half_from_float(as_float(c.in[1][0])) * 0x10001u}; };
  m["f16v2tof32"] = [](C& c) { c.out[0] = words_of(lanes(c, 1, true), false); };
  m["f32v2tof16"] = m["f32v4tof16"] = [](C& c) { c.out[0] = words_of(lanes(c, 1, false), true); };
  m["f32fromi32"] = [](C& c) { c.out[0] = {as_word(static_cast<float>(static_cast<std::int32_t>(c.in[1][0])))}; };
  m["f32fromui32"] = [](C& c) { c.out[0] = {as_word(static_cast<float>(c.in[1][0]))}; };
  m["f32toi32"] = [](C& c) { c.out[0] = {static_cast<std::uint32_t>(static_cast<std::int32_t>(as_float(c.in[1][0])))}; };
  m["f32toui32"] = [](C& c) { c.out[0] = {as_float(c.in[1][0]) <= 0 ? 0 : static_cast<std::uint32_t>(as_float(c.in[1][0]))}; };
  m["f32int"] = [](C& c) {
    const float x = as_float(c.in[1][0]);
    const unsigned mode = c.in[2][0] & 3;
    c.out[0] = {as_word(mode == 0 ? std::nearbyint(x) : mode == 1 ? std::ceil(x) : mode == 2 ? std::floor(x) : std::trunc(x))};
  };
  for (const auto& [name, bits] : {std::pair("f32sufromui", 32u), {"f32v2sufromui", 32u}, {"f16v2sufromui", 16u}, {"f16v4sufromui", 16u}}) {
    const unsigned n = bits;
    m[name] = [n](C& c) {
      std::vector<float> out;
      for (const std::uint32_t w : c.in[1])
        for (unsigned k = 0; k < 32; k += n) {
          const double u = n == 32 ? w : w >> k & 0xffff;
          out.push_back(static_cast<float>((u + 0.5 - std::ldexp(1.0, static_cast<int>(n) - 1)) / std::ldexp(1.0, static_cast<int>(n))));
        }
      c.out[0] = words_of(out, n == 16);
    };
  }
}

void add_accumulators(Models& m) {
  using C = InstructionCase;
  for (const auto& [shape, is_half] : {std::pair("f32v2", false), {"f32v4", false}, {"f16v4", true}, {"f16v8", true}}) {
    const bool half = is_half;
    m[shape + std::string("acc")] = [half](C& c) {
      const auto x = lanes(c, 0, half);
      for (std::size_t k = 0; k < x.size(); ++k) c.accumulators[2 * k] += x[k];
    };
    m[shape + std::string("absacc")] = [half](C& c) {
      const auto x = lanes(c, 0, half);
      for (std::size_t k = 0; k < x.size(); ++k) c.accumulators[2 * k] += std::fabs(x[k]);
    };
    m[shape + std::string("sqacc")] = [half](C& c) {
      const auto x = lanes(c, 0, half);
      for (std::size_t k = 0; k < x.size(); ++k) {
        const float square = x[k] * x[k];
        c.accumulators[2 * k] += square;
      }
    };
  }
  const auto products = [](const C& c, bool half) {
    std::vector<float> x = lanes(c, 0, half);
    const std::vector<float> y = lanes(c, 1, half);
    for (std::size_t k = 0; k < x.size(); ++k) x[k] *= y[k];
    return x;
  };
  m["f32mac"] = [=](C& c) { c.accumulators[0] += products(c, false)[0]; };
  m["f32v2mac"] = [=](C& c) { c.accumulators[0] += products(c, false)[0], c.accumulators[2] += products(c, false)[1]; };
  m["f16v2cmac"] = [=](C& c) { c.accumulators[0] += products(c, true)[0] + products(c, true)[1]; };
  m["f16v4cmac"] = [=](C& c) {
    const auto p = products(c, true);
    c.accumulators[0] += p[0] + p[1];
    c.accumulators[2] += p[2] + p[3];
  };
  m["f32v2aop"] = [](C& c) {
    const auto x = lanes(c, 0, false), y = lanes(c, 1, false);
    for (unsigned k = 0; k < 4; ++k) {
      const float p = x[k % 2] * y[k / 2];
      c.accumulators[2 * k] += p;
    }
  };
  m["f32v2axpy"] = [](C& c) {
    const auto x = lanes(c, 1, false), y = lanes(c, 2, false);
    c.out[0] = words_of({c.accumulators[0], c.accumulators[2]}, false);
    for (unsigned k = 0; k < 2; ++k) {
      const float p = as_float(c.tas) * x[k];
      c.accumulators[2 * k] = p + y[k];
    }
  };
  m["f16v4mix"] = [](C& c) {
    const auto x = lanes(c, 1, true), y = lanes(c, 2, true);
    c.out[0] = words_of({c.accumulators[0], c.accumulators[2], c.accumulators[4], c.accumulators[6]}, true);
    const float a = float_from_half(static_cast<std::uint16_t>(c.tas)), b = float_from_half(static_cast<std::uint16_t>(c.tas >> 16));
    for (unsigned k = 0; k < 4; ++k) {
      const float p = a * x[k], q = b * y[k];
      c.accumulators[2 * k] = p + q;
    }
  };
  for (const bool half : {false, true})
    m[half ? "f16v2gina" : "f32v2gina"] = [half](C& c) {
      const unsigned odd = c.in[2][0] & 1;
      const auto s = lanes(c, 1, half);
      c.out[0] = words_of({c.accumulators[odd], c.accumulators[2 + odd]}, half);
      for (unsigned k = odd; k < 12; k += 2) c.accumulators[k] = c.accumulators[k + 4];
      c.accumulators[12 + odd] = s[0];
      c.accumulators[14 + odd] = s[1];
    };
  m["f16v4gacc"] = [](C& c) { c.out[0] = words_of({c.accumulators[0], c.accumulators[2], c.accumulators[4], c.accumulators[6]}, true); };
  m["f16v4stacc"] = [](C& c) {
    c.out[0] = words_of({c.accumulators[0], c.accumulators[2]}, false);
    c.accumulators[1] = c.accumulators[4];
    c.accumulators[3] = c.accumulators[6];
  };
}

std::uint32_t loaded(InstructionCase& c, std::uint32_t address, unsigned bytes, const std::string& name) {
  std::uint32_t w = 0;
  std::memcpy(&w, c.at<char>(address), std::min(bytes, 4u));
  if (name.starts_with("lds")) w = static_cast<std::uint32_t>(static_cast<std::int32_t>(w << (32 - 8 * bytes)) >> (32 - 8 * bytes));
  if (name.starts_with("ldb") && bytes == 2) w *= 0x10001u;
  if (name.starts_with("ldb") && bytes == 1) w *= 0x1010101u;
  return w;
}

// Offset forms: base, delta, offset or base, offset. Step forms: base, delta+=, step.
void add_memory(Models& m) {
  using C = InstructionCase;
  const auto add = [&](const std::string& name, unsigned bytes, bool stores) {
    const auto access = [=](C& c, std::uint32_t address) {
      const unsigned words = std::max(bytes / 4, 1u);
      if (stores) {
        std::memcpy(c.at<char>(address), c.in[0].data(), bytes);
        return;
      }
      c.out[0].clear();
      for (unsigned k = 0; k < words; ++k) c.out[0].push_back(loaded(c, address + 4 * k, std::min(bytes, 4u), name));
    };
    m[name] = [=](C& c) {
      const std::uint32_t delta = c.in.size() == 4 ? c.in[2][0] : 0;
      access(c, c.in[1][0] + delta + bytes * c.in.back()[0]);
    };
    m[name + "step"] = [=](C& c) {
      access(c, c.in[1][0] + c.in[2][0]);
      c.out[2] = {c.in[2][0] + bytes * c.in[3][0]};
    };
  };
  for (const auto& [name, bytes] : {std::pair("ld32", 4u),
                                    {"ld64", 8u},
                                    {"ld128", 16u},
                                    {"ldz16", 2u},
                                    {"lds16", 2u},
                                    {"ldz8", 1u},
                                    {"lds8", 1u},
                                    {"ldb16", 2u},
                                    {"ldb8", 1u}})
    add(name, bytes, false);
  add("st32", 4, true);
  add("st64", 8, true);
  m["stm32"] = [](C& c) { *c.at<std::uint32_t>(c.in[1][0] + 4 * c.in[2][0]) = c.in[0][0]; };
  m["stm32step"] = [](C& c) {
    *c.at<std::uint32_t>(c.in[1][0]) = c.in[0][0];
    c.out[1] = {c.in[1][0] + 4 * c.in[2][0]};
  };
}

struct Addresses {
  std::uint32_t a[3];
  explicit Addresses(const Words& w) : a{w[0] & 0x1fffff, w[1] & 0x1fffff, w[0] >> 21 | (w[1] >> 21 << 11 & 0x1fffff)} {}
  Words packed() const { return {(a[0] & 0x1fffff) | (a[2] & 0x7ff) << 21, (a[1] & 0x1fffff) | (a[2] >> 11 & 0x3ff) << 21}; }
  void step(unsigned which, unsigned select, std::uint32_t strides, unsigned bytes) {
    std::int32_t by = 1;
    if (select > 0) by = static_cast<std::int32_t>(strides << (32 - 10 * select)) >> 22;
    a[which] += static_cast<std::uint32_t>(by) * bytes;
  }
};

void add_packed(Models& m) {
  using C = InstructionCase;
  m["tapack"] = [](C& c) {
    Addresses p({0, 0});
    for (unsigned k = 0; k < 3; ++k) p.a[k] = c.in[k + 1][0];
    c.out[0] = p.packed();
  };
  const auto pair = [](C& c, std::uint32_t at) { return Words{*c.at<std::uint32_t>(at), *c.at<std::uint32_t>(at + 4)}; };
  const auto two = [&](const char* name, unsigned bytes) {
    m[name] = [=](C& c) {
      Addresses p(c.in[2]);
      const std::uint32_t select = c.in[4][0];
      c.out[0] = pair(c, p.a[0]);
      c.out[1] = bytes == 8 ? pair(c, p.a[1]) : Words{loaded(c, p.a[1], bytes, bytes == 2 ? "ldb16" : "ld32")};
      p.step(0, select & 3, c.in[3][0], 8);
      p.step(1, select >> 2 & 3, c.in[3][0], bytes);
      c.out[2] = p.packed();
    };
  };
  two("ld2x64pace", 8);
  two("ld64a32pace", 4);
  two("ld64b16pace", 2);
  m["st64pace"] = [](C& c) {
    Addresses p(c.in[1]);
    std::memcpy(c.at<char>(p.a[2]), c.in[0].data(), 8);
    p.step(2, c.in[3][0] & 3, c.in[2][0], 8);
    c.out[1] = p.packed();
  };
  m["ldst64pace"] = [=](C& c) {
    Addresses p(c.in[2]);
    c.out[0] = pair(c, p.a[0]);
    std::memcpy(c.at<char>(p.a[2]), c.in[1].data(), 8);
    p.step(0, c.in[4][0] & 3, c.in[3][0], 8);
    p.step(2, c.in[4][0] >> 2 & 3, c.in[3][0], 8);
    c.out[2] = p.packed();
  };
  m["ld2xst64pace"] = [=](C& c) {
    Addresses p(c.in[2]);
    const Words low = pair(c, p.a[0]), high = pair(c, p.a[1]);
    c.out[0] = {low[0], low[1], high[0], high[1]};
    std::memcpy(c.at<char>(p.a[2]), c.in[1].data(), 8);
    for (unsigned k = 0; k < 3; ++k) p.step(k, c.in[4][0] >> (2 * k) & 3, c.in[3][0], 8);
    c.out[2] = p.packed();
  };
  for (const auto& [name, bytes] : {std::pair("ldd16b16", 2u), {"ldd16a32", 4u}, {"ldd16a64", 8u}}) {
    const unsigned n = bytes;
    m[name] = [=](C& c) {
      const std::uint32_t at = c.in[2][0] + (c.in[3][0] & 0xffff);
      c.out[0] = n == 8 ? pair(c, at) : Words{loaded(c, at, n, n == 2 ? "ldb16" : "ld32")};
      c.out[3] = {*c.at<std::uint16_t>(c.in[1][0])};
      c.out[1] = {c.in[1][0] + 2};
    };
  }
}

}  // namespace

const std::map<std::string, std::function<void(InstructionCase&)>>& instruction_models() {
  static const Models all = [] {
    Models m;
    add_integers(m);
    add_shuffles(m);
    add_arithmetic(m);
    add_functions(m);
    add_conversions(m);
    add_accumulators(m);
    add_memory(m);
    add_packed(m);
    return m;
  }();
  return all;
}

namespace {

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, at);) out.push_back(part);
  return out;
}

constexpr std::uint32_t kTileAddress = 0x4c000;
constexpr std::size_t kCaseWords = 48, kAccumulatorsAt = 16, kTasAt = 32, kMemoryBytes = 512;

// A row's form with operands: registers, the words that they begin with, the text.
struct Sample {
  InstructionCase of;
  std::vector<std::string> registers;  // per operand: "m3", "a4" ... the first of a group; empty: a number
  std::string text;
  bool uses_accumulators = false;
};

class Sampler {
 public:
  explicit Sampler(unsigned seed) : random_(seed) {}

  Sample sample(const std::string& name, const std::string& form, std::uint32_t memory_address) {
    Sample s;
    s.of.name = name;
    s.of.form = form == "-" ? std::vector<std::string>{} : split(form, ',');
    s.of.memory_address = memory_address;
    for (std::size_t i = 0; i < kMemoryBytes; ++i) s.of.memory.push_back(static_cast<char>(random_()));
    const bool is_memory = name.starts_with("ld") || name.starts_with("st");
    is_memory_ = is_memory && name != "ldconst";
    packs_ = form.find("mm+=") != std::string::npos;
    by_table_ = name.starts_with("ldd16");
    if (by_table_)
      for (std::size_t i = 0; i < kMemoryBytes; i += 2) *reinterpret_cast<std::uint16_t*>(s.of.memory.data() + i) %= 256;
    unsigned next_main = 2, next_aux = 0;
    s.text = "  " + name;
    addresses_ = 0;
    for (std::size_t i = 0; i < s.of.form.size(); ++i) add_operand(s, i, next_main, next_aux);
    s.of.out = s.of.in;
    s.of.tas = name.starts_with("f16") ? halves() : as_word(number());
    static const char* const kParts[] = {"acc", "gina", "mac", "aop", "axpy", "mix"};
    for (const char* part : kParts) s.uses_accumulators = s.uses_accumulators || name.find(part) != std::string::npos;
    for (float& a : s.of.accumulators) a = number();
    return s;
  }

 private:
  float number() { return std::uniform_real_distribution<float>(0.25f, 4)(random_) * (positive_ || random_() % 2 ? 1.0f : -1.0f); }
  std::uint32_t halves() { return half_from_float(number()) | static_cast<std::uint32_t>(half_from_float(number())) << 16; }

  std::uint32_t value(const InstructionCase& c, const std::string& what, std::size_t i) {
    if (is_memory_ && what[0] == 'm' && !(i == 0)) {
      if (packs_) return static_cast<std::uint32_t>(random_()) % 8 * 0x100401;  // strides
      // The first is the base, what follows a small delta or offset.
      const bool is_base = addresses_++ == (by_table_ ? 99u : 0u);
      if (by_table_) return what.ends_with("@") ? 64 : c.memory_address + (what.ends_with("++") ? 0 : 64);
      if (is_base) return c.memory_address + 64;
      return what.ends_with("+=") || addresses_ == 2 ? (c.form.size() - 1 == i ? 2 : 32) : 2;
    }
    positive_ = c.name.find("ln") != std::string::npos || c.name.find("log") != std::string::npos ||
                c.name.find("sqrt") != std::string::npos || c.name.find("oorx") != std::string::npos ||
                c.name.find("toui") != std::string::npos;
    if ((c.name == "shl" || c.name == "shr" || c.name == "shrs") && i == 2) return static_cast<std::uint32_t>(random_()) % 40;
    if (c.name.starts_with("mov") && i == 1 && random_() % 2) return 0;
    const bool takes_bits = c.name.find("from") != std::string::npos;
    if (c.name.starts_with("f16") && !takes_bits) return halves();
    if (c.name.starts_with("f32") && !takes_bits)
      return c.name.find("to") != std::string::npos ? as_word(number() * 100) : as_word(number());
    return static_cast<std::uint32_t>(random_());
  }

  std::int64_t immediate(const std::string& name, const std::string& what) {
    if (what == "c32") return static_cast<std::int64_t>(random_() & 0xffffffff);
    if (what == "zu")
      return random_() % 2 ? static_cast<std::int64_t>(random_() % 4096) : static_cast<std::int64_t>((random_() & 0xfff) << 20);
    if (is_memory_ && what != "z4" && what != "z6" && what != "z2") return static_cast<std::int64_t>(random_() % 3);
    if (name == "f16v4stacc") return 0;
    const int bits = std::stoi(what.substr(1));
    const auto size = std::int64_t{1} << std::min(bits, 31);
    const auto n = static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(size));
    return what[0] == 's' || (what[0] == 'i' && random_() % 2) ? n - size / 2 : n;
  }

  void add_operand(Sample& s, std::size_t i, unsigned& next_main, unsigned& next_aux) {
    std::string what = s.of.form[i];
    if (what[0] == '=' || what[0] == '+') what = what.substr(1);
    s.text += i == 0 ? " " : ", ";
    if (what[0] != 'm' && what[0] != 'a') {
      const std::int64_t n = immediate(s.of.name, what);
      s.of.in.push_back({static_cast<std::uint32_t>(n)});
      s.registers.emplace_back();
      s.text += std::to_string(n);
      return;
    }
    unsigned count = 0;
    while (count < what.size() && what[count] == what[0]) ++count;
    unsigned& next = what[0] == 'm' ? next_main : next_aux;
    next = (next + count - 1) / count * count;
    Words words;
    if (packs_ && count == 2 && what[0] == 'm') {
      Addresses p({0, 0});
      for (unsigned k = 0; k < 3; ++k) p.a[k] = s.of.memory_address + 64 + 64 * k;
      words = p.packed();
    } else {
      for (unsigned k = 0; k < count; ++k) words.push_back(value(s.of, what, i));
    }
    s.of.in.push_back(words);
    s.registers.push_back(std::string(1, what[0]) + std::to_string(next));
    s.text += "$" + s.registers.back() + (count > 1 ? ":" + std::to_string(next + count - 1) : "") + what.substr(count);
    next += count;
  }

  std::mt19937 random_;
  bool is_memory_ = false, packs_ = false, by_table_ = false, positive_ = false;
  unsigned addresses_ = 0;
};

std::string register_number(const std::string& first, std::size_t k) {
  return "$" + first.substr(0, 1) + std::to_string(std::stoul(first.substr(1)) + k);
}

// $m0 and $m1: the case's words before and after.
std::string code_of(const Sample& s) {
  std::string out;
  const auto line = [&](const std::string& text) { out += "  " + text + "\n"; };
  if (s.uses_accumulators) {
    for (unsigned k = 0; k < 8; ++k) {
      line("ld64 $a0:1, $m0, $mzero, " + std::to_string((kAccumulatorsAt + 2 * k) / 2));
      line("f32v2gina $azeros, $a0:1, " + std::to_string(k / 4));
    }
    line("ld32 $a0, $m0, $mzero, " + std::to_string(kTasAt));
    line("uput $TAS, $a0");
  }
  std::size_t at = 0;
  for (std::size_t i = 0; i < s.registers.size(); ++i)
    for (std::size_t k = 0; !s.registers[i].empty() && k < s.of.in[i].size(); ++k)
      line("ld32 " + register_number(s.registers[i], k) + ", $m0, $mzero, " + std::to_string(at++));
  out += s.text + "\n";
  at = 0;
  for (std::size_t i = 0; i < s.registers.size(); ++i)
    for (std::size_t k = 0; !s.registers[i].empty() && k < s.of.in[i].size(); ++k)
      line("st32 " + register_number(s.registers[i], k) + ", $m1, $mzero, " + std::to_string(at++));
  for (unsigned k = 0; s.uses_accumulators && k < 8; ++k) {
    line("f32v2gina $a0:1, $azeros, " + std::to_string(k / 4));
    line("st64 $a0:1, $m1, $mzero, " + std::to_string((kAccumulatorsAt + 2 * k) / 2));
  }
  line("add $m0, $m0, " + std::to_string(4 * kCaseWords));
  line("add $m1, $m1, " + std::to_string(4 * kCaseWords));
  return out;
}

void check(const Sample& s, const Words& after, const char* memory) {
  InstructionCase expected = s.of;
  instruction_models().at(s.of.name)(expected);
  std::size_t at = 0;
  for (std::size_t i = 0; i < s.registers.size(); ++i)
    for (std::size_t k = 0; !s.registers[i].empty() && k < s.of.in[i].size(); ++k, ++at)
      EXPECT_EQ(after[at], expected.out[i][k]) << s.text << ": operand " << i << ", word " << k << " of "
                                               << ::testing::PrintToString(s.of.in);
  if (s.uses_accumulators)
    for (unsigned k = 0; k < 8; ++k)
      for (unsigned l = 0; l < 2; ++l)
        EXPECT_EQ(as_float(after[kAccumulatorsAt + 2 * k + l]), expected.accumulators[4 * (k % 4) + 2 * l + k / 4])
            << s.text << ": pair " << k;
  EXPECT_EQ(std::memcmp(memory, expected.memory.data(), kMemoryBytes), 0) << s.text << ": memory";
}

// Instructions without a model here. Those of control are tested in assembly_test.cpp, the others in weights_test.cpp.
const std::set<std::string>& without_model() {
  static const std::set<std::string> all = {// Control.
                                            "bri", "br", "call", "brz", "brnz", "brneg", "brpos", "brnzdec", "exitz", "exitnz", "exitneg",
                                            "exitpos", "rpt", "get", "put", "uget", "uput",
                                            // Random numbers.
                                            "urand32", "urand64", "f32v2grand", "f16v2grand", "f16v4rmask", "f32v2rmask",
                                            // Products with weights, and supervisors.
                                            "f16v4sisoamp", "f16v4hihoamp", "f16v4sihoamp", "f16v4hihov4amp", "f32sisoamp", "f32sisov2amp",
                                            "f16v4sisoslic", "f16v4hihoslic", "f16v4sihoslic", "f16v4hihov4slic", "ld64putcs", "ld128putcs",
                                            "sync", "runall"};
  return all;
}

class AssemblyModels : public Assembly {
 protected:
  std::vector<std::vector<std::string>> rows() {
    FILE* out = popen((popc_ + " --list-instructions").c_str(), "r");
    std::string all;
    for (char buffer[512]; fgets(buffer, sizeof buffer, out) != nullptr;) all += buffer;
    pclose(out);
    std::vector<std::vector<std::string>> rows;
    for (const std::string& line : split(all, '\n')) rows.push_back(split(line, '\t'));
    return rows;
  }
};

TEST_F(AssemblyModels, EachInstructionDoesWhatItsModelSays) {
  const unsigned seed = 20261127;
  Sampler sampler(seed);
  SCOPED_TRACE("seed " + std::to_string(seed));
  constexpr std::size_t kCasesOfVertex = 24;
  std::vector<std::pair<std::string, std::string>> forms;
  for (const std::vector<std::string>& row : rows()) {
    ASSERT_EQ(row.size(), 5u);
    const bool has_model = instruction_models().contains(row[0]);
    EXPECT_NE(has_model, without_model().contains(row[0])) << row[0];
    if (!has_model) continue;
    for (const std::string& form : split(row[1], '|')) forms.emplace_back(row[0], form);
  }
  EXPECT_GT(forms.size(), 300u);
  // The tile: words before, words after, memory; one behind the other in the order of the fields.
  const std::size_t vertices = (forms.size() + kCasesOfVertex - 1) / kCasesOfVertex;
  const std::uint32_t words = kCasesOfVertex * kCaseWords * 4, memory_at = kTileAddress + 16 + 2 * (words + 16);
  std::vector<std::vector<Sample>> samples(vertices);
  std::string cpp, code;
  for (std::size_t v = 0; v < vertices; ++v) {
    const std::string name = "Each" + std::to_string(v);
    cpp += "class " + name +
           " : public Vertex {\n public:\n  Input<Vector<unsigned, VectorLayout::ONE_PTR, 16>> in;\n"
           "  Output<Vector<unsigned, VectorLayout::ONE_PTR, 16>> out;\n  InOut<Vector<char, VectorLayout::ONE_PTR, 16>> memory;\n"
           "  static const bool isExternalCodelet = true;\n};\n";
    code += ".section .text." + name + "\n.globl __runCodelet_" + name + "\n__runCodelet_" + name +
            ":\n  ld32 $m0, $mvertex_base, $mzero, 0\n  ld32 $m1, $mvertex_base, $mzero, 1\n";
    for (std::size_t i = v * kCasesOfVertex; i < std::min(forms.size(), (v + 1) * kCasesOfVertex); ++i) {
      const std::uint32_t own = memory_at + static_cast<std::uint32_t>((i - v * kCasesOfVertex) * kMemoryBytes);
      samples[v].push_back(sampler.sample(forms[i].first, forms[i].second, own));
      code += code_of(samples[v].back());
    }
    code += "  exitz $mzero\n";
  }
  const Library library = assembled(cpp, code, "-O0 -fno-count");
  for (std::size_t v = 0; v < vertices; ++v) {
    AssembledVertex vertex(*library.find("Each" + std::to_string(v)));
    const auto in = vertex.edge<std::uint32_t>("in", words / 4), out = vertex.edge<std::uint32_t>("out", words / 4);
    const auto memory = vertex.edge<char>("memory", kCasesOfVertex * kMemoryBytes);
    ASSERT_EQ(memory.data() - tile_context().base + kTileAddress, memory_at);
    for (std::size_t i = 0; i < samples[v].size(); ++i) {
      const InstructionCase& c = samples[v][i].of;
      std::size_t at = i * kCaseWords;
      for (std::size_t k = 0; k < c.in.size(); ++k)
        if (!samples[v][i].registers[k].empty())
          at = static_cast<std::size_t>(std::copy(c.in[k].begin(), c.in[k].end(), in.begin() + static_cast<std::ptrdiff_t>(at)) -
                                        in.begin());
      for (unsigned k = 0; k < 8; ++k)
        for (unsigned l = 0; l < 2; ++l)
          in[i * kCaseWords + kAccumulatorsAt + 2 * k + l] = as_word(c.accumulators[4 * (k % 4) + 2 * l + k / 4]);
      in[i * kCaseWords + kTasAt] = c.tas;
      std::copy(c.memory.begin(), c.memory.end(), memory.begin() + static_cast<std::ptrdiff_t>(i * kMemoryBytes));
    }
    EXPECT_TRUE(vertex.run());
    for (std::size_t i = 0; i < samples[v].size(); ++i)
      check(
          samples[v][i],
          Words(out.begin() + static_cast<std::ptrdiff_t>(i * kCaseWords), out.begin() + static_cast<std::ptrdiff_t>((i + 1) * kCaseWords)),
          memory.data() + i * kMemoryBytes);
  }
}

}  // namespace
}  // namespace pando
