// The forms of reductions: scale, update, outputs, compute sets, many at once, options, odd tensors, errors; and where the work goes.
#include <gtest/gtest.h>

#include <limits>
#include <sstream>

#include <poplar/Engine.hpp>
#include <poplar/exceptions.hpp>
#include <popops/OperationDefUtil.hpp>
#include <popops/Reduce.hpp>
#include <popops/codelets.hpp>
#include <poputil/TileMapping.hpp>
#include <poputil/exceptions.hpp>

#include "oplib.h"

namespace oplib {
namespace {

using namespace poplar;
using popops::Operation;
using popops::ReduceParams;
using program::Sequence;

// Sums of rows of a matrix.
std::vector<double> row_sums(const Values& x) {
  std::vector<double> out(x.shape[0], 0);
  for (std::size_t i = 0; i < x.size(); ++i) out[i / x.shape[1]] += x[i];
  return out;
}

std::vector<double> column_sums(const Values& x) {
  std::vector<double> out(x.shape[1], 0);
  for (std::size_t i = 0; i < x.size(); ++i) out[i % x.shape[1]] += x[i];
  return out;
}

TEST(ReduceForms, ScaleAndUpdate) {
  for (const Machine machine : kMachines)
    for (const Mapping mapping : {Mapping::linear, Mapping::scattered})
      for (const Type& type : {FLOAT, HALF})
        for (const bool update : {false, true})
          for (const std::size_t axis : {0u, 1u}) {
            const Operand x = operand("x", type, {21, 40}, uniform(0, 1, 1), mapping);
            const Operand y = operand("y", type, {axis == 0 ? 40u : 21u}, uniform(-1, 1, 2), mapping);
            const Operand scale = operand("scale", FLOAT, {}, [](std::size_t) { return -0.75; });
            const auto out = run(machine, {x, y, scale}, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
              popops::reduceWithOutput(g, in[0], in[1], {axis}, {Operation::ADD, update, in[2]}, prog);
              return std::vector<Tensor>{in[1]};
            });
            std::vector<double> expected = axis == 0 ? column_sums(x) : row_sums(x);
            for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = rounded(type, (update ? y[i] : 0) - 0.75 * expected[i]);
            Tolerance t = tolerance_of(type);
            t.absolute *= 10;
            expect_close(out[0], expected, t);
          }
}

TEST(ReduceForms, UpdateOfEveryOperation) {
  for (const Machine machine : {Machine::cpu, Machine::ipu1}) {
    const Operand x = operand("x", INT, {50, 30}, integers(-3, 3, 1));
    for (const Operation op : {Operation::ADD, Operation::SQUARE_ADD, Operation::MUL, Operation::MIN, Operation::MAX}) {
      const Operand y = operand("y", INT, {30}, integers(-3, 3, 2));
      const auto out = run(machine, {x, y}, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
        popops::reduceWithOutput(g, in[0], in[1], {0}, {op, true}, prog);
        return std::vector<Tensor>{in[1]};
      });
      std::vector<double> expected;
      for (std::size_t c = 0; c < 30; ++c) {
        double a = y[c];
        for (std::size_t r = 0; r < 50; ++r) {
          const double v = x[r * 30 + c];
          a = op == Operation::ADD          ? a + v
              : op == Operation::SQUARE_ADD ? a + v * v
              : op == Operation::MUL        ? a * v
              : op == Operation::MIN        ? std::min(a, v)
                                            : std::max(a, v);
        }
        expected.push_back(rounded(INT, a));
      }
      if (op == Operation::MUL)
        for (std::size_t c = 0; c < 30; ++c) expected[c] = 0;  // each column has a zero among 50 numbers of [-3, 3]
      expect_close(out[0], expected, poputil::asString(op));
    }
    const Operand b = operand("b", BOOL, {4, 3}, [](std::size_t i) { return i != 4; }),
                  into = operand("into", BOOL, {3}, [](std::size_t i) { return i != 2; });
    const auto out = run(machine, {b, into}, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
      popops::reduceWithOutput(g, in[0], in[1], {0}, {Operation::LOGICAL_AND, true}, prog);
      return std::vector<Tensor>{in[1]};
    });
    expect_close(out[0], {1, 0, 0});
  }
}

TEST(ReduceForms, LogAddTakesTheScaleAsALogarithm) {
  const Operand x = operand("x", FLOAT, {5, 3}, uniform(-50, 50, 1)), y = operand("y", FLOAT, {3}, uniform(-50, 50, 2));
  const Operand scale = operand("scale", FLOAT, {1}, [](std::size_t) { return 1.5; });
  const auto out = run(Machine::ipu1, {x, y, scale}, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
    popops::reduceWithOutput(g, in[0], in[1], {0}, {Operation::LOG_ADD, true, in[2]}, prog);
    return std::vector<Tensor>{in[1]};
  });
  std::vector<double> expected;
  for (std::size_t c = 0; c < 3; ++c) {
    double sum = std::exp(y[c]);
    for (std::size_t r = 0; r < 5; ++r) sum += std::exp(x[r * 3 + c] + 1.5);
    expected.push_back(std::log(sum));
  }
  expect_close(out[0], expected);
}

TEST(ReduceForms, ComputeSetsAreShared) {
  for (const Machine machine : kMachines) {
    const Operand x = operand("x", FLOAT, {200, 300}, uniform(0, 1, 1)), y = operand("y", FLOAT, {500}, uniform(0, 1, 2));
    std::size_t sets = 0;
    const auto out = run(machine, {x, y}, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
      std::vector<ComputeSet> css;
      const Tensor a = popops::reduce(g, in[0], {0}, Operation::ADD, css);
      const std::size_t of_first = css.size();
      const Tensor b = popops::reduce(g, in[0], FLOAT, {1}, Operation::ADD, css);
      const Tensor c = g.addVariable(FLOAT, {}, "c");
      g.setTileMapping(c, 0);
      popops::reduceWithOutput(g, in[1], c, {0}, Operation::MAX, css);
      sets = css.size();
      EXPECT_LE(sets, of_first + 1);
      for (const ComputeSet& cs : css) prog.add(program::Execute(cs));
      return std::vector<Tensor>{a, b, c};
    });
    EXPECT_LE(sets, 3u);
    expect_close(out[0], column_sums(x));
    expect_close(out[1], row_sums(x));
    expect_close(out[2], {*std::max_element(y.values.begin(), y.values.end())});
  }
}

TEST(ReduceForms, ManyAtOnce) {
  for (const Machine machine : kMachines) {
    const Operand x = operand("x", FLOAT, {60, 70}, uniform(0, 1, 1)), h = operand("h", HALF, {8, 9}, uniform(0, 1, 2));
    const Operand y = operand("y", FLOAT, {70}, uniform(0, 1, 3));
    const auto out = run(machine, {x, h, y}, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
      std::vector<Tensor> created;
      popops::reduceMany(
          g, {{in[0], {0}, Operation::ADD, "columns"}, {in[0], {1}, Operation::ADD}, {in[1], {1}, Operation::ADD, FLOAT, "halves"}},
          created, prog);
      std::vector<Tensor> given = {in[2], Tensor()};
      popops::reduceMany(g, {{in[0], {0}, ReduceParams(Operation::ADD, true)}, {in[0], {1}, Operation::ADD}}, given, prog);
      created.insert(created.end(), given.begin(), given.end());
      return created;
    });
    ASSERT_EQ(out.size(), 5u);
    expect_close(out[0], column_sums(x));
    expect_close(out[1], row_sums(x));
    EXPECT_EQ(out[2].type, FLOAT);
    expect_close(out[2], row_sums(h));
    std::vector<double> updated = column_sums(x);
    for (std::size_t i = 0; i < updated.size(); ++i) updated[i] += y[i];
    expect_close(out[3], updated);
    expect_close(out[4], row_sums(x));
  }
}

// The text of a graph.
std::string text_of(const Graph& graph) {
  std::ostringstream text;
  graph.serialize(text);
  return text.str();
}

std::size_t compute_sets(const std::function<void(Graph&, Sequence&)>& build) {
  const Device device = device_of(Machine::full);
  Graph graph(device.getTarget());
  popops::addCodelets(graph);
  Sequence prog;
  build(graph, prog);
  const std::string text = text_of(graph);
  std::size_t n = 0;
  for (std::size_t at = text.find("compute set cs"); at != std::string::npos; at = text.find("compute set cs", at + 1)) ++n;
  return n;
}

TEST(ReduceForms, AsManyComputeSetsAsTheLongest) {
  std::size_t one = 0, all = 0;
  for (const bool many : {false, true})
    (many ? all : one) = compute_sets([&](Graph& g, Sequence& prog) {
      const Tensor x = g.addVariable(FLOAT, {1000, 100}, "x");
      poputil::mapTensorLinearly(g, x);
      std::vector<popops::SingleReduceOp> ops = {{x, {0, 1}, Operation::ADD}};
      if (many) ops.insert(ops.end(), {{x, {1}, Operation::MAX}, {x, {0, 1}, Operation::MIN}, {x, {0}, Operation::SQUARE_ADD}});
      std::vector<Tensor> outputs;
      popops::reduceMany(g, ops, outputs, prog);
    });
  EXPECT_GT(one, 0u);
  EXPECT_EQ(all, one);
}

TEST(ReduceForms, HalfSumsAreAddedInFloat) {
  // In half, 2048 + 1 is 2048.
  for (const Machine machine : kMachines)
    for (const Type& out_type : {HALF, FLOAT}) {
      const Operand x = operand("x", HALF, {5000, 3}, [](std::size_t) { return 1; });
      const auto out = run(machine, {x}, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
        return std::vector<Tensor>{popops::reduce(g, in[0], out_type, {0}, Operation::ADD, prog)};
      });
      expect_close(out[0], {5000, 5000, 5000}, Tolerance{});
    }
}

TEST(ReduceForms, LargeSumsAreAccurate) {
  for (const Machine machine : {Machine::cpu, Machine::ipu1, Machine::full}) {
    const Operand x = operand("x", FLOAT, {3000, 700}, uniform(0, 1, 9));
    const auto out = run(machine, {x}, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
      return std::vector<Tensor>{popops::reduce(g, in[0], {0, 1}, Operation::ADD, prog),
                                 popops::reduce(g, in[0], {0}, Operation::SQUARE_ADD, prog),
                                 popops::reduce(g, in[0], {1}, Operation::ADD, prog)};
    });
    double sum = 0;
    std::vector<double> squares(700, 0);
    for (std::size_t i = 0; i < x.size(); ++i) sum += x[i], squares[i % 700] += x[i] * x[i];
    expect_close(out[0], {sum}, Tolerance{3e-7, 0}, name_of(machine));
    expect_close(out[1], squares, Tolerance{3e-7, 0}, name_of(machine));
    expect_close(out[2], row_sums(x), Tolerance{3e-7, 0}, name_of(machine));
  }
}

TEST(ReduceForms, PartialResultsInHalfIfAskedFor) {
  const Operand x = operand("x", HALF, {4096}, [](std::size_t) { return 1; });
  for (const char* type : {"half", "float"}) {
    const auto out = run(Machine::ipu2, {x}, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
      const Tensor sum =
          popops::reduce(g, in[0], FLOAT, {0}, Operation::ADD, prog, {}, {{"accumType.interTile", type}, {"accumType.intraTile", type}});
      EXPECT_EQ(text_of(g).find("<half,half>") != std::string::npos, std::string(type) == "half");
      return std::vector<Tensor>{sum};
    });
    expect_close(out[0], {4096});  // 128 elements a tile: exact in half, too
  }
}

TEST(ReduceForms, AliasesAndConstants) {
  for (const Machine machine : kMachines) {
    const Operand x = operand("x", FLOAT, {6, 1}, uniform(0, 1, 1));
    const auto out = run(machine, {x}, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
      const Tensor broadcast = in[0].broadcast(50, 1);
      const Tensor ones = g.addConstant(FLOAT, {6, 10}, 1.0f);
      g.setTileMapping(ones, 0);
      return std::vector<Tensor>{popops::reduce(g, broadcast, {0}, Operation::ADD, prog),
                                 popops::reduce(g, broadcast, {1}, Operation::ADD, prog),
                                 popops::reduce(g, concat(broadcast, ones, 1), {1}, Operation::ADD, prog),
                                 popops::reduce(g, concat(in[0], in[0].reverse(0), 1), {0, 1}, Operation::ADD, prog)};
    });
    double sum = 0;
    for (const double v : x.values) sum += v;
    expect_close(out[0], std::vector<double>(50, sum));
    expect_close(out[1], map1(x, [](double v) { return 50 * v; }));
    expect_close(out[2], map1(x, [](double v) { return 50 * v + 10; }));
    expect_close(out[3], {2 * sum});
  }
}

TEST(ReduceForms, Views) {
  // Slices of a padded matrix, every other column, grouped channels.
  for (const Machine machine : kMachines) {
    const Operand x = operand("x", FLOAT, {40, 64}, uniform(0, 1, 1));
    const auto out = run(machine, {x}, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
      const Tensor padded = in[0].slice(1, 63, 1), strided = in[0].subSample(2, 1),
                   channels = in[0].reshape({4, 10, 4, 16}).dimShuffle({0, 2, 3, 1}).reshape({4, 64, 10});
      return std::vector<Tensor>{popops::reduce(g, padded, {1}, Operation::ADD, prog), popops::reduce(g, padded, {0}, Operation::ADD, prog),
                                 popops::reduce(g, strided, {1}, Operation::ADD, prog),
                                 popops::reduce(g, channels, {0, 2}, Operation::ADD, prog)};
    });
    std::vector<double> padded_rows(40, 0), padded_columns(62, 0), strided(40, 0), channels(64, 0);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const std::size_t r = i / 64, c = i % 64;
      if (c >= 1 && c < 63) padded_rows[r] += x[i], padded_columns[c - 1] += x[i];
      if (c % 2 == 0) strided[r] += x[i];
      channels[c] += x[i];
    }
    expect_close(out[0], padded_rows);
    expect_close(out[1], padded_columns);
    expect_close(out[2], strided);
    expect_close(out[3], channels);
  }
}

// A matrix in blocks of 8 x 16, column of blocks after column of blocks, reduced along either dimension, with and without each of the ways
// to read it.
TEST(ReduceForms, BlocksAndColumnsBySwitch) {
  for (const Machine machine : {Machine::cpu, Machine::ipu1, Machine::ipu2})
    for (const char* blocks : {"true", "false"})
      for (const char* columns : {"true", "false"})
        for (const char* tree : {"true", "false"}) {
          const OptionFlags options{{"pando.readBlocks", blocks}, {"pando.readColumns", columns}, {"pando.tree", tree}};
          const Operand x = operand("x", FLOAT, {5, 16, 8, 16}, uniform(-1, 1, 1)), y = operand("y", FLOAT, {80}, uniform(-1, 1, 2));
          const Operand scale = operand("scale", FLOAT, {}, [](std::size_t) { return 0.5; });
          const auto out = run(machine, {x, y, scale}, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
            const Tensor matrix = in[0].dimShuffle({1, 2, 0, 3}).reshape({128, 80});
            popops::reduceWithOutput(g, matrix, in[1], {0}, {Operation::ADD, true, in[2]}, prog, {}, options);
            return std::vector<Tensor>{popops::reduce(g, matrix, {0}, Operation::MAX, prog, {}, options),
                                       popops::reduce(g, matrix, {1}, Operation::SQUARE_ADD, prog, {}, options),
                                       popops::reduce(g, matrix, {0, 1}, Operation::LOG_ADD, prog, {}, options), in[1]};
          });
          std::vector<double> most(80, -1), squares(128, 0), sums(80, 0);
          double exponentials = 0;
          for (std::size_t r = 0; r < 128; ++r)
            for (std::size_t c = 0; c < 80; ++c) {
              const double v = x[((c / 16 * 16 + r / 8) * 8 + r % 8) * 16 + c % 16];
              most[c] = std::max(most[c], v), squares[r] += v * v, sums[c] += v, exponentials += std::exp(v);
            }
          for (std::size_t c = 0; c < 80; ++c) sums[c] = y[c] + 0.5 * sums[c];
          const std::string what = name_of(machine) + " blocks " + blocks + " columns " + columns + " tree " + tree;
          expect_close(out[0], most, Tolerance{1e-5, 1e-5}, what);
          expect_close(out[1], squares, Tolerance{1e-5, 1e-5}, what);
          expect_close(out[2], {std::log(exponentials)}, Tolerance{1e-5, 1e-5}, what);
          expect_close(out[3], sums, Tolerance{1e-5, 1e-5}, what);
        }
}

TEST(ReduceForms, NothingToReduce) {
  for (const Machine machine : kMachines) {
    const Operand y = operand("y", FLOAT, {3}, uniform(0, 1, 1)), x = operand("x", HALF, {3, 2}, uniform(0, 1, 1));
    const auto out = run(machine, {y, x}, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
      const Tensor none = g.addVariable(FLOAT, {3, 0}, "none"), no_ints = g.addVariable(INT, {0}, "noInts"),
                   no_truths = g.addVariable(BOOL, {2, 0}, "noTruths");
      const Tensor no_longs = g.addVariable(LONGLONG, {0}, "noLongs");
      EXPECT_EQ(popops::reduce(g, none, {0}, Operation::ADD, prog).shape(), (std::vector<std::size_t>{0}));
      popops::reduceWithOutput(g, none, in[0], {1}, {Operation::ADD, true}, prog);
      return std::vector<Tensor>{popops::reduce(g, none, {1}, Operation::ADD, prog),
                                 popops::reduce(g, none, {1}, Operation::MAX, prog),
                                 popops::reduce(g, no_ints, {0}, Operation::MIN, prog),
                                 popops::reduce(g, no_truths, {1}, Operation::LOGICAL_AND, prog),
                                 popops::reduce(g, no_longs, {0}, Operation::MUL, prog),
                                 in[0],
                                 popops::reduce(g, in[1], FLOAT, {}, Operation::SQUARE_ADD, prog)};
    });
    expect_close(out[0], {0, 0, 0});
    expect_close(out[1], std::vector<double>(3, -std::numeric_limits<double>::infinity()));
    expect_close(out[2], {std::numeric_limits<int>::max()});
    expect_close(out[3], {1, 1});
    expect_close(out[4], {1});
    expect_close(out[5], y.values);
    expect_close(out[6], map1(x, [](double v) { return v * v; }));
  }
}

TEST(ReduceForms, WorkIsOnAllTiles) {
  for (const auto& [type, op] : std::vector<std::pair<Type, Operation>>{{FLOAT, Operation::ADD},
                                                                        {HALF, Operation::ADD},
                                                                        {INT, Operation::MAX},
                                                                        {BOOL, Operation::LOGICAL_OR},
                                                                        {FLOAT, Operation::LOG_ADD}})
    for (const auto& [shape, dims] : std::vector<std::pair<std::vector<std::size_t>, std::vector<std::size_t>>>{{{100000}, {0}},
                                                                                                                {{1000, 100}, {0}},
                                                                                                                {{1000, 100}, {1}},
                                                                                                                {{100, 1000}, {0}},
                                                                                                                {{100, 1000}, {1}},
                                                                                                                {{2, 50000}, {0}},
                                                                                                                {{2, 50000}, {1}},
                                                                                                                {{50000, 2}, {1}},
                                                                                                                {{10, 100, 100}, {0, 2}},
                                                                                                                {{10, 100, 100}, {1}}}) {
      const Operand x = operand("x", type, shape, [](std::size_t) { return 1; });
      EXPECT_GE(share_of_tiles_used(Machine::full, {x},
                                    [&, op = op, dims = dims](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
                                      return std::vector<Tensor>{popops::reduce(g, in[0], dims, op, prog)};
                                    }),
                0.9)
          << type << ' ' << ::testing::PrintToString(shape) << ::testing::PrintToString(dims);
    }
}

TEST(ReduceForms, TheResultIsSpread) {
  const Device device = device_of(Machine::full);
  for (const auto& [shape, dims] : std::vector<std::pair<std::vector<std::size_t>, std::vector<std::size_t>>>{
           {{100, 5000}, {0}}, {{5000, 100}, {1}}, {{20, 500, 20}, {1}}}) {
    Graph graph(device.getTarget());
    popops::addCodelets(graph);
    const Tensor x = graph.addVariable(FLOAT, shape, "x");
    poputil::mapTensorLinearly(graph, x);
    Sequence prog;
    const Tensor out = popops::reduce(graph, x, dims, Operation::ADD, prog);
    std::size_t most = 0;
    for (const auto& intervals : graph.getTileMapping(out)) {
      std::size_t n = 0;
      for (const Interval& i : intervals) n += i.size();
      most = std::max(most, n);
    }
    EXPECT_LE(most, 16u) << ::testing::PrintToString(shape);
  }
}

TEST(ReduceForms, NamesOfOperations) {
  for (const Operation op : {Operation::ADD, Operation::MUL, Operation::MIN, Operation::MAX, Operation::LOGICAL_AND, Operation::LOGICAL_OR,
                             Operation::SQUARE_ADD, Operation::LOG_ADD}) {
    std::stringstream text;
    text << op;
    EXPECT_EQ(poputil::VertexTemplateToString<Operation>::to_string(op), "popops::Operation::" + text.str());
    Operation back = op == Operation::ADD ? Operation::MUL : Operation::ADD;
    text >> back;
    EXPECT_EQ(back, op);
  }
  EXPECT_STREQ(poputil::asString(Operation::SQUARE_ADD), "Square Add");
  std::stringstream wrong("MEAN");
  Operation op;
  EXPECT_THROW(wrong >> op, poputil::poplibs_error);
  std::stringstream none;
  EXPECT_THROW(none << static_cast<Operation>(99), poputil::poplibs_error);
  EXPECT_THROW(poputil::asString(static_cast<Operation>(99)), poputil::poplibs_error);
  EXPECT_THROW(poputil::VertexTemplateToString<Operation>::to_string(static_cast<Operation>(99)), poputil::poplibs_error);
}

struct ReduceErrors : ::testing::Test {
  Graph graph;
  Sequence prog;
  ReduceErrors() { popops::addCodelets(graph); }
  Tensor variable(const Type& type, const std::vector<std::size_t>& shape) {
    const Tensor t = graph.addVariable(type, shape, "t");
    graph.setTileMapping(t, 0);
    return t;
  }
  // Reducing throws, and the message says this.
  template <class F>
  void expect_error(const F& f, const std::string& says) {
    try {
      f();
      ADD_FAILURE() << "no error: " << says;
    } catch (const poputil::poplibs_error& e) { EXPECT_NE(std::string(e.what()).find(says), std::string::npos) << e.what(); }
  }
};

TEST_F(ReduceErrors, Dimensions) {
  const Tensor x = variable(FLOAT, {3, 4});
  expect_error([&] { popops::reduce(graph, x, {2}, Operation::ADD, prog); }, "no dimension 2 in a tensor of shape {3,4}");
  expect_error([&] { popops::reduce(graph, x, {1, 0, 1}, Operation::ADD, prog); }, "dimension 1 is to be reduced twice");
}

TEST_F(ReduceErrors, Types) {
  expect_error([&] { popops::reduce(graph, variable(BOOL, {3}), {0}, Operation::ADD, prog); }, "does not take elements of type bool");
  expect_error([&] { popops::reduce(graph, variable(FLOAT, {3}), {0}, Operation::LOGICAL_AND, prog); }, "Logical And");
  expect_error([&] { popops::reduce(graph, variable(INT, {3}), {0}, Operation::LOG_ADD, prog); }, "does not take elements of type int");
  expect_error([&] { popops::reduce(graph, variable(SHORT, {3}), {0}, Operation::MAX, prog); }, "does not take elements of type short");
  expect_error([&] { popops::reduce(graph, variable(INT, {3}), FLOAT, {0}, Operation::ADD, prog); }, "cannot give results of type float");
}

TEST_F(ReduceErrors, Outputs) {
  const Tensor x = variable(FLOAT, {3, 4});
  expect_error([&] { popops::reduceWithOutput(graph, x, variable(FLOAT, {3}), {0}, Operation::ADD, prog); }, "has shape {3}, expected {4}");
  expect_error([&] { popops::reduceWithOutput(graph, x, variable(FLOAT, {1}).broadcast(4, 0), {0}, Operation::ADD, prog); },
               "not parallel writeable");
  expect_error([&] { popops::reduce(graph, x, {0}, {Operation::ADD, true}, prog); }, "needs an output");
  std::vector<Tensor> outputs(2);
  expect_error([&] { popops::reduceMany(graph, {{x, {0}, Operation::ADD}}, outputs, prog); }, "2 outputs for 1 reductions");
  outputs = {variable(HALF, {4})};
  expect_error([&] { popops::reduceMany(graph, {{x, {0}, Operation::ADD, FLOAT}}, outputs, prog); }, "has type half, expected float");
}

TEST_F(ReduceErrors, Scales) {
  const Tensor x = variable(FLOAT, {3, 4});
  expect_error([&] { popops::reduce(graph, x, {0}, {Operation::MAX, false, variable(FLOAT, {})}, prog); }, "take a scale");
  expect_error([&] { popops::reduce(graph, x, {0}, {Operation::ADD, false, variable(FLOAT, {2})}, prog); }, "must be one float, not {2}");
  expect_error([&] { popops::reduce(graph, x, {0}, {Operation::ADD, false, variable(HALF, {})}, prog); }, "of type half");
  expect_error([&] { popops::reduce(graph, x, {0}, {Operation::ADD, false, Tensor()}, prog); }, "invalid tensor");
  expect_error([&] { popops::reduce(graph, variable(INT, {3}), {0}, {Operation::ADD, false, variable(FLOAT, {})}, prog); },
               "needs floating-point");
}

TEST_F(ReduceErrors, Options) {
  const Tensor x = variable(FLOAT, {3});
  EXPECT_THROW(popops::reduce(graph, x, {0}, Operation::ADD, prog, {}, {{"accumType", "half"}}), invalid_option);
  EXPECT_THROW(popops::reduce(graph, x, {0}, Operation::ADD, prog, {}, {{"accumType.interTile", "double"}}), invalid_option);
}

}  // namespace
}  // namespace oplib
