// gather, scatter, sequenceSlice and histogram, against plain loops.
#include "oplib.h"

#include <algorithm>

#include <poplar/exceptions.hpp>
#include <popops/Gather.hpp>
#include <popops/GatherStatistics.hpp>
#include <popops/Scatter.hpp>
#include <popops/SequenceSlice.hpp>
#include <popops/codelets.hpp>
#include <poputil/exceptions.hpp>

namespace oplib {
namespace {

using namespace poplar;
using poputil::poplibs_error;
using program::Sequence;
using Dims = std::vector<std::size_t>;

std::size_t product(const Dims& d) {
  std::size_t n = 1;
  for (const std::size_t x : d) n *= x;
  return n;
}

void for_all(const Dims& shape, const std::function<void(const Dims&)>& f) {
  Dims at(shape.size(), 0);
  for (std::size_t i = 0, n = product(shape); i < n; ++i) {
    f(at);
    for (std::size_t d = shape.size(); d-- > 0 && ++at[d] == shape[d];) at[d] = 0;
  }
}

std::size_t index_of(const Dims& shape, const Dims& at) {
  std::size_t i = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) i = i * shape[d] + at[d];
  return i;
}

bool in(const Dims& dims, std::size_t d) { return std::find(dims.begin(), dims.end(), d) != dims.end(); }

TEST(Gather, AlongAnAxis) {
  struct Case {
    Dims shape, indices;
    unsigned axis;
  };
  for (const Machine machine : kMachines)
    for (const Mapping mapping : kMappings)
      for (const Type& type : {FLOAT, HALF, BOOL})
        for (const Case& c : {Case{{9}, {4}, 0}, Case{{9, 5}, {2, 3}, 0}, Case{{4, 9, 3}, {6}, 1}, Case{{4, 9}, {}, 1},
                              Case{{4, 9}, {0}, 1}, Case{{2, 1000}, {3}, 1}}) {
          const std::size_t size = c.shape[c.axis];
          const Operand t = operand("t", type, c.shape, integers(0, 50, 1), mapping);
          const Operand i = operand("i", UNSIGNED_INT, c.indices, integers(0, static_cast<std::int64_t>(size), 2), mapping);
          const auto out = run(machine, {t, i}, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
            const Tensor made = popops::createGatherInput(g, type, c.shape, c.axis);
            prog.add(program::Copy(in[0], made));
            return std::vector<Tensor>{popops::gather(g, in[0], in[1], c.axis, prog, {}), popops::gather(g, made, in[1], c.axis, prog, {})};
          });
          Dims shape(c.shape.begin(), c.shape.begin() + c.axis);
          shape.insert(shape.end(), c.indices.begin(), c.indices.end());
          shape.insert(shape.end(), c.shape.begin() + c.axis + 1, c.shape.end());
          std::vector<double> expected;
          for_all(shape, [&](const Dims& at) {
            Dims which(at.begin() + c.axis, at.begin() + static_cast<std::ptrdiff_t>(c.axis + c.indices.size())),
                from(at.begin(), at.begin() + c.axis);
            const double index = i[index_of(c.indices, which)];
            from.push_back(static_cast<std::size_t>(index));
            from.insert(from.end(), at.begin() + static_cast<std::ptrdiff_t>(c.axis + c.indices.size()), at.end());
            expected.push_back(from[c.axis] < size ? t[index_of(c.shape, from)] : 0);
          });
          const std::string what = name_of(machine) + ' ' + name_of(mapping) + ' ' + type.toString();
          ASSERT_EQ(out[0].shape, shape) << what;
          expect_close(out[0], expected, what);
          expect_close(out[1], expected, what + " created");
        }
}

struct General {
  Dims input, indices;
  std::size_t vector_dim;
  Dims offset_dims, sizes, collapsed;
  std::vector<unsigned> starts;
};

TEST(Gather, LikeXla) {
  const std::vector<General> cases = {
      {{5, 6}, {4}, 1, {1}, {1, 6}, {0}, {0}},                 // rows
      {{5, 6}, {3, 2}, 1, {}, {1, 1}, {0, 1}, {0, 1}},         // elements
      {{5, 6}, {2, 3}, 0, {1, 2}, {2, 3}, {}, {1, 0}},         // windows; vectors in dimension 0
      {{5, 6, 7}, {2, 4, 1}, 2, {0, 3}, {3, 1, 2}, {1}, {2}},  // part of a dimension without a start
  };
  for (const Machine machine : kMachines)
    for (std::size_t k = 0; k < cases.size(); ++k) {
      const General& c = cases[k];
      const Operand t = operand("t", FLOAT, c.input, integers(0, 500, 1)), i = operand("i", INT, c.indices, integers(-2, 9, 2));
      const auto out = run(machine, {t, i}, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
        return std::vector<Tensor>{popops::gather(g, in[0], in[1], c.vector_dim, c.offset_dims, c.sizes, c.collapsed, c.starts, prog)};
      });
      Dims batch;
      for (std::size_t d = 0; d < c.indices.size(); ++d)
        if (d != c.vector_dim) batch.push_back(c.indices[d]);
      Dims shape(batch.size() + c.offset_dims.size());
      Dims kept;
      for (std::size_t d = 0; d < c.input.size(); ++d)
        if (!in(c.collapsed, d)) kept.push_back(d);
      for (std::size_t d = 0, b = 0, o = 0; d < shape.size(); ++d) shape[d] = in(c.offset_dims, d) ? c.sizes[kept[o++]] : batch[b++];
      std::vector<double> expected;
      for_all(shape, [&](const Dims& at) {
        Dims which, from(c.input.size(), 0);
        for (std::size_t d = 0, o = 0; d < shape.size(); ++d)
          if (in(c.offset_dims, d))
            from[kept[o++]] = at[d];
          else
            which.push_back(at[d]);
        for (std::size_t s = 0; s < c.starts.size(); ++s) {
          Dims index = which;
          if (c.vector_dim < c.indices.size()) index.insert(index.begin() + static_cast<std::ptrdiff_t>(c.vector_dim), s);
          const std::size_t dim = c.input[c.starts[s]];
          const double start = i[index_of(c.indices, index)];
          if (start >= 0 && start < static_cast<double>(dim))
            from[c.starts[s]] += std::min(static_cast<std::size_t>(start), dim - c.sizes[c.starts[s]]);
        }
        expected.push_back(t[index_of(c.input, from)]);
      });
      ASSERT_EQ(out[0].shape, shape) << k;
      expect_close(out[0], expected, name_of(machine) + ' ' + std::to_string(k));
    }
  Graph g(device_of(Machine::ipu1).getTarget());
  Sequence prog;
  const Tensor t = g.addVariable(FLOAT, {8}, VariableMappingMethod::LINEAR, "t"),
               i = g.addVariable(INT, {2}, VariableMappingMethod::LINEAR, "i");
  EXPECT_THROW(popops::gather(g, t, i, 0, {0}, {3}, {}, {0}, prog), poplibs_error);
  EXPECT_EQ(popops::createGatherInput(g, FLOAT, {5, 6}, {1, 6}, {0}).shape(), (Dims{5, 6}));
}

struct Scattered {
  Dims operand, indices, updates;
  std::size_t vector_dim;
  std::vector<unsigned> window;
  Dims insert;
  std::vector<unsigned> to_operand;
};

const std::vector<Scattered> kScatters = {
    {{6, 4}, {3}, {3, 4}, 1, {1}, {0}, {0}},              // rows
    {{6, 4}, {3}, {4, 3}, 1, {0}, {0}, {0}},              // windows first
    {{6, 4}, {5, 2}, {5}, 1, {}, {0, 1}, {0, 1}},         // elements
    {{16, 8}, {2, 2}, {2, 2, 3}, 0, {1, 2}, {}, {1, 0}},  // windows of 2 x 3; vectors in dimension 0
    {{6, 4}, {3, 1}, {3, 2}, 1, {1}, {0}, {0}},           // part of a dimension without a start
};

// operand after the scatter; `moved`: windows that do not fit are moved back instead of left out; f(old, update).
std::vector<double> scattered(const Scattered& c, const Values& t, const Values& i, const Values& u, bool moved,
                              const std::function<double(double, double)>& f) {
  std::vector<double> out = t.values;
  Dims window_sizes(c.operand.size(), 1);
  for (std::size_t d = 0, w = 0; d < c.operand.size(); ++d)
    if (!in(c.insert, d)) window_sizes[d] = c.updates[c.window[w++]];
  for_all(c.updates, [&](const Dims& at) {
    Dims to(c.operand.size(), 0), which;
    std::size_t w = 0;
    for (std::size_t d = 0; d < c.operand.size(); ++d)
      if (!in(c.insert, d)) to[d] = at[c.window[w++]];
    for (unsigned d = 0; d < c.updates.size(); ++d)
      if (std::find(c.window.begin(), c.window.end(), d) == c.window.end()) which.push_back(at[d]);
    bool inside = true;
    for (std::size_t k = 0; k < c.to_operand.size(); ++k) {
      Dims index = which;
      if (c.vector_dim < c.indices.size()) index.insert(index.begin() + static_cast<std::ptrdiff_t>(c.vector_dim), k);
      double start = i[index_of(c.indices, index)];
      const double most = static_cast<double>(c.operand[c.to_operand[k]] - window_sizes[c.to_operand[k]]);
      if (moved) start = std::clamp(start, 0.0, most);
      if (start < 0 || start > most)
        inside = false;
      else
        to[c.to_operand[k]] += static_cast<std::size_t>(start);
    }
    if (inside) out[index_of(c.operand, to)] = f(out[index_of(c.operand, to)], u[index_of(c.updates, at)]);
  });
  return out;
}

TEST(Scatter, LikeXla) {
  for (const Machine machine : kMachines)
    for (const Mapping mapping : {Mapping::linear, Mapping::scattered})
      for (const Scattered& c : kScatters) {
        const Operand t = operand("t", FLOAT, c.operand, integers(100, 500, 1), mapping),
                      u = operand("u", FLOAT, c.updates, integers(0, 99, 3), mapping);
        // The reference goes by elements, not by windows: no two windows overlap.
        const Operand i = operand("i", INT, c.indices, [](std::size_t k) { return static_cast<double>(k * 5 % 7) - 1; }, mapping);
        const auto out = run(machine, {t, u, i}, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
          const Tensor both = g.clone(in[0]);
          prog.add(program::Copy(in[0], both));
          popops::scatter(g, in[0], in[2], in[1], c.vector_dim, c.window, c.insert, c.to_operand, prog);
          popops::UpdateComputationFunc exchange = [](Graph&, Tensor& old, Tensor& update, Sequence&) {
            return old.numElements() == 0 ? old : update;
          };
          popops::scatter(g, both, in[2], in[1], c.vector_dim, c.window, c.insert, c.to_operand, exchange, prog);
          return std::vector<Tensor>{in[0], both};
        });
        const std::string what = name_of(machine) + ' ' + name_of(mapping) + ' ' + std::to_string(&c - &kScatters[0]);
        expect_close(out[0], scattered(c, t, i, u, false, [](double, double update) { return update; }), what);
        expect_close(out[1], scattered(c, t, i, u, true, [](double, double update) { return update; }), what + " with a computation");
      }
}

// Windows that overlap are written in the order of the indices.
TEST(Scatter, WindowsInOrder) {
  for (const Machine machine : kMachines) {
    const Operand t = operand("t", FLOAT, {6, 4}, integers(100, 500, 1)), u = operand("u", FLOAT, {3, 2, 3}, integers(0, 99, 3));
    const std::vector<double> rows = {1, 2, 5}, columns = {1, 0, 1};  // the last does not fit
    const Operand i = operand("i", UNSIGNED_INT, {3, 2}, [&](std::size_t k) { return k % 2 == 0 ? rows[k / 2] : columns[k / 2]; });
    const auto out = run(machine, {t, u, i}, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
      popops::scatter(g, in[0], in[2], in[1], 1, {1, 2}, {}, {0, 1}, prog);
      return std::vector<Tensor>{in[0]};
    });
    std::vector<double> expected = t.values;
    for (std::size_t k = 0; k < 2; ++k)
      for (std::size_t r = 0; r < 2; ++r)
        for (std::size_t c = 0; c < 3; ++c)
          expected[(static_cast<std::size_t>(rows[k]) + r) * 4 + static_cast<std::size_t>(columns[k]) + c] = u[(k * 2 + r) * 3 + c];
    expect_close(out[0], expected, name_of(machine));
  }
}

// A window dimension right behind the updates' last one is one of those of a single element that are inserted.
TEST(Scatter, WindowsOfOneElementNeedNoDimension) {
  const Operand t = operand("t", FLOAT, {5}, integers(100, 500, 1)), u = operand("u", FLOAT, {3}, integers(0, 99, 3));
  const Operand i = operand("i", UNSIGNED_INT, {3}, [](std::size_t k) { return k == 0 ? 4.0 : k == 1 ? 0.0 : 2.0; });
  const auto out = run(Machine::ipu1, {t, u, i}, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
    popops::scatter(g, in[0], in[2], in[1], 1, {1}, {0}, {0}, prog);
    return std::vector<Tensor>{in[0]};
  });
  expect_close(out[0], {u[1], t[1], u[2], t[3], u[0]});
}

TEST(SequenceSlice, EntriesMayHaveOtherShapes) {
  const Operand from = operand("from", FLOAT, {4, 2, 1, 3}, integers(1, 99, 1)),
                to = operand("to", FLOAT, {3, 2, 3}, integers(100, 199, 2));
  const auto number = [](double v) { return [v](std::size_t) { return v; }; };
  const Operand n = operand("n", UNSIGNED_INT, {1}, number(2)), in_at = operand("in", UNSIGNED_INT, {1}, number(1)),
                out_at = operand("out", UNSIGNED_INT, {1}, number(0));
  for (const bool zero : {false, true}) {
    const auto out = run(Machine::ipu1, {from, to, n, in_at, out_at}, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
      popops::sequenceSlice(g, in[0], in[1], in[2], in[3], in[4], zero, prog);
      return std::vector<Tensor>{in[1]};
    });
    std::vector<double> expected(from.values.begin() + 6, from.values.begin() + 18);
    for (std::size_t k = 12; k < 18; ++k) expected.push_back(zero ? 0 : to[k]);
    expect_close(out[0], expected, zero ? "zero" : "");
  }
}

TEST(SequenceSlice, CopiesSequences) {
  struct Case {
    std::vector<double> n, in, out;
  };
  for (const Machine machine : kMachines)
    for (const Type& type : {FLOAT, HALF, INT})
      for (const Dims& inner : {Dims{}, Dims{5}, Dims{2, 33}})
        for (const Case& c : {Case{{2, 3, 1}, {0, 4, 9}, {1, 5, 0}}, Case{{9, 0, 3}, {3, 1, 8}, {7, 2, 0}},
                              Case{{4, 4, 4294967295.0}, {1, 5, 9}, {2, 4, 11}}, Case{{}, {}, {}}})
          for (const bool zero : {false, true}) {
            Dims in_shape = inner, out_shape = inner;
            in_shape.insert(in_shape.begin(), 10);
            out_shape.insert(out_shape.begin(), 12);
            const auto numbers = [](const std::vector<double>& v) { return [&v](std::size_t i) { return v[i]; }; };
            const Operand from = operand("from", type, in_shape, integers(1, 99, 1)),
                          to = operand("to", type, out_shape, integers(100, 199, 2));
            const Operand n = operand("n", UNSIGNED_INT, {c.n.size()}, numbers(c.n)),
                          in_at = operand("in", UNSIGNED_INT, {c.n.size()}, numbers(c.in)),
                          out_at = operand("out", UNSIGNED_INT, {c.n.size()}, numbers(c.out));
            const auto out = run(machine, {from, to, n, in_at, out_at}, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
              popops::sequenceSlice(g, in[0], in[1], in[2], in[3], in[4], zero, prog);
              return std::vector<Tensor>{in[1]};
            });
            const std::size_t w = product(inner);
            std::vector<double> expected = zero ? std::vector<double>(12 * w, 0) : to.values;
            for (std::size_t s = 0; s < c.n.size(); ++s)
              for (double k = 0; k < c.n[s] && c.out[s] + k < 12; ++k)
                for (std::size_t x = 0; x < w; ++x)
                  expected[static_cast<std::size_t>(c.out[s] + k) * w + x] =
                      c.in[s] + k < 10 ? from[static_cast<std::size_t>(c.in[s] + k) * w + x] : 0;
            expect_close(out[0], expected, name_of(machine) + ' ' + type.toString() + ' ' + std::to_string(w) + (zero ? " zero" : ""));
          }
}

TEST(Histogram, Counts) {
  for (const Machine machine : kMachines)
    for (const Mapping mapping : kMappings)
      for (const Type& type : {FLOAT, HALF})
        for (const std::size_t levels : {1, 5, 40})
          for (const Dims& shape : {Dims{1}, Dims{33, 7}, Dims{0}, Dims{5000}, Dims{}})
            for (const bool absolute : {false, true}) {
              const auto numbers = integers(-40, 40, 3);
              const Operand x = operand(
                  "x", type, shape, [&](std::size_t i) { return i % 50 == 7   ? std::nan("")
                                                                : i % 50 == 9 ? -INFINITY
                                                                              : numbers(i) / 2; },
                  mapping);
              const Operand l = operand("l", type, {levels}, [&](std::size_t i) { return static_cast<double>(i) - 2; });
              const auto out = run(machine, {x, l}, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
                const Tensor counts = popops::histogram(g, in[0], in[1], absolute, prog);
                Tensor whole = popops::histogram(g, in[0], in[1], absolute, prog, {}, {{"useFloatArithmetic", "false"}});
                popops::histogram(g, in[0], whole, true, in[1], absolute, prog);
                return std::vector<Tensor>{counts, whole};
              });
              std::vector<double> expected(levels + 1, 0), twice;
              for (const double v : x.values) {
                std::size_t bin = 0;
                while (bin < levels && !((absolute ? std::abs(v) : v) < l[bin])) ++bin;
                ++expected[bin];
              }
              for (const double e : expected) twice.push_back(2 * e);
              const std::string what = name_of(machine) + ' ' + name_of(mapping) + ' ' + type.toString() + ' ' + std::to_string(x.size()) +
                                       ' ' + std::to_string(levels);
              expect_close(out[0], expected, Tolerance{}, what);
              EXPECT_EQ(out[1].type, UNSIGNED_INT);
              expect_close(out[1], twice, what);
            }
}

TEST(Gather, AllTilesWork) {
  const Operand t = operand("t", FLOAT, {1000, 10}, integers(0, 9, 1)), i = operand("i", UNSIGNED_INT, {10000}, integers(0, 999, 1)),
                many = operand("m", HALF, {100000}, integers(0, 9, 1));
  const Operand l = operand("l", HALF, {3}, integers(0, 9, 1)), one = operand("one", UNSIGNED_INT, {1}, integers(0, 0, 1)),
                u = operand("u", FLOAT, {10000, 10}, integers(0, 9, 1));
  EXPECT_GE(share_of_tiles_used(Machine::full, {t, i},
                                [](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
                                  return std::vector<Tensor>{popops::gather(g, in[0], in[1], 0, prog, {})};
                                }),
            0.9);
  EXPECT_GE(share_of_tiles_used(Machine::full, {u, i, u},
                                [](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
                                  popops::scatter(g, in[0], in[1], in[2], 1, {1}, {0}, {0}, prog);
                                  return std::vector<Tensor>{};
                                }),
            0.9);
  EXPECT_GE(share_of_tiles_used(Machine::full, {many, l},
                                [](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
                                  return std::vector<Tensor>{popops::histogram(g, in[0], in[1], false, prog)};
                                }),
            0.9);
  EXPECT_GE(share_of_tiles_used(Machine::full, {u, one},
                                [](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
                                  popops::sequenceSlice(g, in[0], in[0], in[1], in[1], in[1], true, prog);
                                  return std::vector<Tensor>{};
                                }),
            0.9);
}

TEST(Gather, Errors) {
  Graph g(device_of(Machine::ipu1).getTarget());
  popops::addCodelets(g);
  Sequence prog;
  const auto variable = [&](const Type& type, const Dims& shape) { return g.addVariable(type, shape, VariableMappingMethod::LINEAR, "v"); };
  const Tensor t = variable(FLOAT, {5, 6}), i = variable(UNSIGNED_INT, {4}), n = variable(UNSIGNED_INT, {2});
  EXPECT_THROW(popops::gather(g, t, i, 2, prog, {}), poplibs_error);
  EXPECT_THROW(popops::gather(g, t, t, 0, prog, {}), poplibs_error);
  EXPECT_THROW(popops::gather(g, t, i, 0, prog, {}, {}, {{"nonsense", "1"}}), poplar::invalid_option);
  EXPECT_THROW(popops::gather(g, variable(FLOAT, {0, 6}), i, 0, prog, {}), poplibs_error);
  EXPECT_THROW(popops::gather(g, t, i, 1, {1}, {1}, {0}, {0}, prog), poplibs_error);        // sliceSizes
  EXPECT_THROW(popops::gather(g, t, i, 1, {1}, {1, 7}, {0}, {0}, prog), poplibs_error);     // too large
  EXPECT_THROW(popops::gather(g, t, i, 1, {1}, {2, 6}, {0}, {0}, prog), poplibs_error);     // collapsed
  EXPECT_THROW(popops::gather(g, t, i, 1, {1, 2}, {1, 6}, {0}, {0}, prog), poplibs_error);  // offsetDims
  EXPECT_THROW(popops::gather(g, t, i, 1, {7}, {1, 6}, {0}, {0}, prog), poplibs_error);
  EXPECT_THROW(popops::gather(g, t, i, 3, {1}, {1, 6}, {0}, {0}, prog), poplibs_error);  // indexVectorDim
  EXPECT_THROW(popops::gather(g, t, i, 1, {1}, {1, 6}, {0}, {2}, prog), poplibs_error);  // startIndexMap
  EXPECT_THROW(popops::createGatherInput(g, FLOAT, {5, 6}, Dims{1}, std::vector<unsigned>{0}), poplibs_error);
  const Tensor u = variable(FLOAT, {4, 6});
  EXPECT_THROW(popops::scatter(g, t, i, variable(HALF, {4, 6}), 1, {1}, {0}, {0}, prog), poplibs_error);
  EXPECT_THROW(popops::scatter(g, t, i, variable(FLOAT, {3, 6}), 1, {1}, {0}, {0}, prog), poplibs_error);
  EXPECT_THROW(popops::scatter(g, t, i, u, 1, {1}, {}, {0}, prog), poplibs_error);
  EXPECT_THROW(popops::scatter(g, t, i, u, 1, {1}, {5}, {0}, prog), poplibs_error);
  EXPECT_THROW(popops::scatter(g, t, i, u, 1, {1}, {0}, {3}, prog), poplibs_error);
  EXPECT_THROW(popops::scatter(g, t, i, u, 1, {4}, {0}, {0}, prog), poplibs_error);
  EXPECT_THROW(popops::scatter(g, t[0].expand({0}).broadcast(5, 0), i, u, 1, {1}, {0}, {0}, prog), poplibs_error);
  popops::UpdateComputationFunc wrong = [](Graph&, Tensor& old, Tensor&, Sequence&) { return old.slice(0, 1); };
  EXPECT_THROW(popops::scatter(g, t, i, u, 1, {1}, {0}, {0}, wrong, prog), poplibs_error);
  EXPECT_THROW(popops::sequenceSlice(g, t, u, n, n, i, true, prog), poplibs_error);
  EXPECT_THROW(popops::sequenceSlice(g, t, variable(HALF, {4, 6}), n, n, n, true, prog), poplibs_error);
  EXPECT_THROW(popops::sequenceSlice(g, t, variable(FLOAT, {4, 5}), n, n, n, true, prog), poplibs_error);
  EXPECT_THROW(popops::sequenceSlice(g, t, u[0].expand({0}).broadcast(4, 0), n, n, n, true, prog), poplibs_error);
  const Tensor levels = variable(FLOAT, {3});
  EXPECT_THROW(popops::histogram(g, i, levels, false, prog), poplibs_error);
  EXPECT_THROW(popops::histogram(g, t, variable(HALF, {3}), false, prog), poplibs_error);
  EXPECT_THROW(popops::histogram(g, t, levels, false, prog, {}, {{"nonsense", "1"}}), poplar::invalid_option);
  Tensor out = variable(FLOAT, {3});
  EXPECT_THROW(popops::histogram(g, t, out, false, levels, false, prog), poplibs_error);
}

}  // namespace
}  // namespace oplib
