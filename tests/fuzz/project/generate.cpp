#include "project/generate.h"

#include "random.h"

#include <fmt/format.h>

#include <vector>

namespace pando::fuzz {

namespace {

class Generator {
 public:
  explicit Generator(std::uint64_t seed)
      : random_(seed), devices_(random_.between(1, 8)), annotated_(static_cast<unsigned>(random_.pick<unsigned>({0, 20, 50, 90}))) {}

  std::string run() {
    const std::uint64_t states = random_.below(6), loads = random_.between(1, 3), ops = random_.between(1, random_.chance(10) ? 60 : 20);
    for (std::uint64_t s = 0; s < states; ++s) state(s);
    for (std::uint64_t i = 0; i < loads; ++i) load();
    if (random_.chance(40)) constant();
    for (std::uint64_t i = 0; i < ops; ++i) op();
    if (random_.chance(70)) store("out0", 0);
    if (random_.chance(20)) store("out0", 0);
    if (random_.chance(30)) store("out1", 1);
    for (std::uint64_t s = 0; s < states; ++s) final(s);
    return "module\nstream 0 \"in0\" to device: Tensor[(2), float32]\nstream 1 \"in1\" to device: Tensor[(2), float32]\n"
           "stream 2 \"out0\" to host: Tensor[(2), float32]\nstream 3 \"out1\" to host: Tensor[(2), float32]\n" +
           variables_ + "\ngraph main(" + inputs_ + "):\n" + body_ + "    return\n" + finals_ +
           "\ngraph one(a: Tensor[(2), float32], b: Tensor[(2), float32]):\n    c: Tensor[(2), float32] = mul(a, b)\n    d: Tensor[(2), "
           "float32] = tanh(c)\n    return d\n"
           "\ngraph two(a: Tensor[(2), float32], b: Tensor[(2), float32]):\n    c: Tensor[(2), float32] = sub(a, b)\n    d: Tensor[(2), "
           "float32] = sigmoid(c)\n    return d, c\n";
  }

 private:
  std::string device() { return std::to_string(random_.below(devices_)); }
  std::string type(bool may_be_annotated = true) {
    return may_be_annotated && random_.chance(annotated_) ? "Tensor[(2), float32, " + device() + "]" : "Tensor[(2), float32]";
  }
  std::string numbers() { return fmt::format("float32(2)[{}.5, -0.{}]", random_.below(3), random_.between(1, 9)); }
  std::string fresh() { return "v" + std::to_string(next_++); }

  void state(std::uint64_t s) {
    const std::string t = type();
    inputs_ += fmt::format("{}w{}: {}", s ? ", " : "", s, t);
    variables_ += fmt::format("variable \"w{}\" input {}: {} = {}\n", s, s, t, numbers());
    values_.push_back("w" + std::to_string(s));
  }
  void load() {
    const std::string v = fresh();
    body_ += fmt::format("    {}: {} = host_load(stream=@stream{})\n", v, type(), random_.below(2));
    values_.push_back(v);
  }
  void constant() {
    const std::string v = fresh();
    body_ += fmt::format("    {}: {} = constant(data={})\n", v, type(), numbers());
    values_.push_back(v);
  }
  // Mostly what is new, so that bodies are deep.
  std::string any() {
    return random_.chance(60) ? values_[values_.size() - 1 - random_.below(std::min<std::size_t>(4, values_.size()))]
                              : random_.pick(values_);
  }

  void op() {
    const std::string v = fresh();
    const std::string plain = type(false);
    switch (random_.below(9)) {
      case 0: body_ += fmt::format("    {}: {} = tanh({})\n", v, type(), any()); break;
      case 1: body_ += fmt::format("    {}: {} = mul({}, {})\n", v, type(), any(), any()); break;
      case 2: body_ += fmt::format("    {}: {} = add_({}, {})\n", v, type(), any(), any()); break;
      case 3: body_ += fmt::format("    {}: {} = call({}, {}) @one\n", v, type(), any(), any()); break;
      case 4: {
        const std::string w = fresh();
        body_ += fmt::format("    ({}: {}, {}: {}) = call({}, {}) @two\n", v, type(), w, plain, any(), any());
        values_.push_back(w);
        break;
      }
      case 5: {
        const std::string d = device();
        body_ += random_.chance(30) ? fmt::format("    {}: Tensor[(2), float32, {}] = send({}, device={})\n", v, d, any(), d)
                                    : fmt::format("    {}: {} = add_n({}, {}, {})\n", v, type(), any(), any(), any());
        break;
      }
      default:
        body_ += fmt::format("    {}: {} = {}({}, {})\n", v, type(), random_.pick<const char*>({"add", "sub", "maximum"}), any(), any());
    }
    values_.push_back(v);
  }
  void store(const std::string&, int number) { body_ += fmt::format("    host_store({}, stream=@stream{})\n", any(), number + 2); }

  void final(std::uint64_t s) {
    if (random_.chance(15)) return;
    const std::string w = "w" + std::to_string(s);
    if (random_.chance(10)) {
      finals_ += fmt::format("    final {} = {}\n", w, random_.pick(values_));
      return;
    }
    const std::string v = fresh();
    std::string g = any();
    body_ += fmt::format("    {}: Tensor[(2), float32] = {}({}, {})\n", v, random_.pick<const char*>({"sub", "add", "maximum"}), w, g);
    finals_ += fmt::format("    final {} = {}\n", w, v);
    if (random_.chance(20)) values_.push_back(v);
  }

  Random random_;
  std::uint64_t devices_;
  unsigned annotated_;
  std::uint64_t next_ = 0;
  std::string inputs_, variables_, body_, finals_;
  std::vector<std::string> values_;
};

}  // namespace

std::string generate_loop(std::uint64_t seed) { return Generator(seed).run(); }

}  // namespace pando::fuzz
