// Checked codelets with loops: those that go beyond a field are found, whether they are compared before or while they run.
#include <gtest/gtest.h>
#include <poplar/exceptions.hpp>

#include <algorithm>
#include <memory>
#include <random>
#include <set>

#include "codelets/walks.h"
#include "setting.h"

namespace api {
namespace {

using namespace poplar;
using namespace poplar::program;

// A field, which writes down what is used of it that is not there: as the messages call it.
class Written {
 public:
  Written(const char* field, std::vector<float>& values, std::set<std::string>& outside)
      : field_(field), values_(values), outside_(outside) {}

  class Element {
   public:
    Element(const Written& of, int i) : of_(of), i_(i) {}
    operator float() const { return of_.is_there(i_, "read") ? of_.values_[static_cast<std::size_t>(i_)] : 0; }
    Element& operator=(float x) {
      if (of_.is_there(i_, "wrote")) of_.values_[static_cast<std::size_t>(i_)] = x;
      return *this;
    }
    Element& operator=(const Element& other) { return *this = static_cast<float>(other); }
    Element& operator+=(float x) { return *this = static_cast<float>(*this) + x; }

   private:
    const Written& of_;
    int i_;
  };
  Element operator[](int i) const { return {*this, i}; }

 private:
  bool is_there(int i, const char* verb) const {
    if (i >= 0 && i < static_cast<int>(values_.size())) return true;
    outside_.insert("it " + std::string(verb) + " element " + std::to_string(i) + " of field '" + field_ + "', which has " +
                    std::to_string(values_.size()));
    return false;
  }

  const char* field_;
  std::vector<float>& values_;
  std::set<std::string>& outside_;
};

struct Walking : Setting {
  Walking(unsigned of_in, unsigned of_out) : in(of_in), out(of_out) {
    graph.addCodelets(codelet_file("walks.cpp"), CodeletFileType::Auto, "--checked");
    const Tensor to_read = graph.addVariable(FLOAT, {of_in}, "in"), to_write = graph.addVariable(FLOAT, {of_out}, "out"),
                 told = graph.addVariable(INT, {3}, "told");
    for (const Tensor& t : {to_read, to_write, told}) graph.setTileMapping(t, 1);
    graph.setTileMapping(graph.addVertex(set, "Walks", {{"in", to_read}, {"out", to_write}, {"told", told}}), 1);
    graph.createHostWrite("in", to_read);
    graph.createHostWrite("out", to_write);
    graph.createHostRead("out", to_write);
    graph.createHostWrite("told", told);
    program.add(Execute(set));
    for (unsigned i = 0; i < of_in; ++i) in[i] = static_cast<float>((i * 5 + 3) % 11);
    load();
  }

  void load() {
    engine = std::make_unique<Engine>(graph, program);
    engine->load(device);
  }

  // "": it ended as it should.
  std::string run(int how, int begin, int end) {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<float>(i);
    const int told[] = {how, begin, end};
    engine->writeTensor("in", in.data(), in.data() + in.size());
    engine->writeTensor("out", out.data(), out.data() + out.size());
    engine->writeTensor("told", told, told + 3);
    std::set<std::string> outside;
    std::vector<float> expected = out;
    walk(how, Written("in", in, outside), Written("out", expected, outside), begin, end);
    ++(outside.empty() ? stayed : went);
    try {
      engine->run();
    } catch (const application_runtime_error& error) {
      const std::string text = error.what();
      load();
      if (outside.empty()) return "it stays inside: " + text;
      // What is read before a loop may have no line.
      const bool named = std::any_of(outside.begin(), outside.end(), [&](const std::string& one) {
        return text.find(one + ", at ") != std::string::npos || text.find(one + " [checked-access]") != std::string::npos;
      });
      return named ? "" : "expected one like '" + *outside.begin() + "', got: " + text;
    }
    if (!outside.empty()) return "it ran: " + *outside.begin();
    std::vector<float> result(out.size());
    engine->readTensor("out", result.data(), result.data() + result.size());
    return result == expected ? "" : "other results";
  }

  std::vector<float> in, out;
  std::unique_ptr<Engine> engine;
  unsigned stayed = 0, went = 0;
};

TEST(CheckedLoops, FindWhatGoesBeyondAField) {
  std::mt19937 random(1);
  for (const auto& [of_in, of_out] : std::vector<std::pair<unsigned, unsigned>>{{37, 37}, {100, 40}, {16, 90}, {3, 5}}) {
    Walking w(of_in, of_out);
    const int least = static_cast<int>(std::min(of_in, of_out));
    for (int how = 0; how < kWalks; ++how)
      for (int k = 0; k < 60; ++k) {
        // Mostly near both ends of the fields.
        const int begin = static_cast<int>(random() % 8) - 2;
        const int end = std::max(begin, k % 3 != 0 ? least + static_cast<int>(random() % 8) - 6 : static_cast<int>(random() % 120));
        EXPECT_EQ(w.run(how, begin, end), "") << "loop " << how << " from " << begin << " to " << end << ", of " << of_in << " and "
                                              << of_out;
      }
    EXPECT_GT(w.stayed, 60u);
    EXPECT_GT(w.went, 60u);
  }
}

}  // namespace
}  // namespace api
