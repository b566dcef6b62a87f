// dynamicSlice, dynamicUpdate, multiSlice and the updates, against plain loops.
#include "oplib.h"

#include <functional>

#include <poplar/Engine.hpp>
#include <poplar/exceptions.hpp>
#include <popops/DynamicSlice.hpp>
#include <poputil/exceptions.hpp>

namespace oplib {
namespace {

using namespace poplar;
using popops::SlicePlan;
using program::Sequence;
using Dims = std::vector<std::size_t>;

std::size_t product(const Dims& d) {
  std::size_t n = 1;
  for (const std::size_t x : d) n *= x;
  return n;
}

// Calls f(coordinate) for all coordinates of a shape, in order.
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

constexpr std::size_t kNowhere = ~std::size_t{0};

// The element of the tensor that element `at` of its slice is.
std::size_t source_of(const Dims& shape, const Dims& dims, const std::vector<double>& offset, Dims at, bool wrap) {
  for (std::size_t k = 0; k < dims.size(); ++k) {
    std::size_t& x = at[dims[k]];
    const double start = offset[k];
    if (!wrap && (start < 0 || start >= static_cast<double>(shape[dims[k]]))) return kNowhere;
    x += static_cast<std::size_t>(start);
    if (wrap)
      x %= shape[dims[k]];
    else if (x >= shape[dims[k]])
      return kNowhere;
  }
  return index_of(shape, at);
}

Dims slice_shape(Dims shape, const Dims& dims, const Dims& sizes) {
  for (std::size_t k = 0; k < dims.size(); ++k) shape[dims[k]] = sizes[k];
  return shape;
}

struct Case {
  Dims shape, dims, sizes;
  std::vector<double> offset;
};

const std::vector<Case> kCases = {
    {{7}, {0}, {1}, {3}},
    {{7}, {0}, {3}, {6}},  // wraps
    {{1}, {0}, {1}, {0}},
    {{5, 9}, {0}, {2}, {1}},
    {{5, 9}, {1}, {4}, {7}},
    {{5, 9}, {0, 1}, {2, 3}, {4, 8}},
    {{5, 9}, {1, 0}, {3, 2}, {8, 9}},
    {{3, 4, 5}, {1}, {2}, {2}},
    {{3, 4, 5}, {0, 2}, {3, 1}, {1, 4}},
    {{2, 3, 4, 5}, {1, 2, 3}, {1, 1, 1}, {2, 3, 4}},
    {{64, 33}, {0}, {1}, {40}},
    {{40, 50}, {0}, {20}, {13}},
    {{4, 0}, {0}, {2}, {1}},
    {{4, 3}, {0}, {0}, {1}},
    {{4, 3}, {}, {}, {}},
};

TEST(DynamicSlice, SliceAndUpdate) {
  for (const Machine machine : kMachines)
    for (const Mapping mapping : kMappings)
      for (const Type& type : {FLOAT, HALF, INT, BOOL, UNSIGNED_SHORT, LONGLONG}) {
        if (type != FLOAT && mapping != Mapping::linear) continue;
        for (const Case& c : kCases) {
          const Dims small = slice_shape(c.shape, c.dims, c.sizes);
          const Operand t = operand("t", type, c.shape, integers(0, 100, 1), mapping),
                        s = operand("s", type, small, integers(0, 100, 2), mapping);
          const Operand offset = operand("offset", UNSIGNED_INT, {c.dims.size()}, [&](std::size_t i) { return c.offset[i]; });
          const auto out = run(machine, {t, s, offset}, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
            const Tensor slice = popops::dynamicSlice(g, in[0], in[2], c.dims, c.sizes, prog);
            const Tensor into = popops::createDynamicSliceOutput(g, in[0], in[2], c.dims, c.sizes);
            popops::dynamicSliceWithOutput(g, into, in[0], in[2], c.dims, c.sizes, prog);
            popops::dynamicUpdate(g, in[0], in[1], in[2], c.dims, c.sizes, prog);
            return std::vector<Tensor>{slice, into, in[0]};
          });
          std::vector<double> slice, updated = t.values;
          for_all(small, [&](const Dims& at) {
            const std::size_t from = source_of(c.shape, c.dims, c.offset, at, true);
            slice.push_back(t[from]);
            updated[from] = s[index_of(small, at)];
          });
          const std::string what =
              name_of(machine) + ' ' + name_of(mapping) + ' ' + type.toString() + ' ' + std::to_string(&c - &kCases[0]);
          ASSERT_EQ(out[0].shape, small) << what;
          expect_close(out[0], slice, what);
          expect_close(out[1], slice, what);
          expect_close(out[2], updated, what);
        }
      }
}

struct Multi {
  Dims shape, dims, sizes;
  std::size_t n;
  double most;  // offsets up to here
};

const std::vector<Multi> kMulti = {
    {{10, 8}, {0}, {1}, 5, 9},        {{10, 8}, {0}, {1}, 1, 9},   {{10, 8}, {0}, {1}, 7, 14},  // some do not exist
    {{10, 8}, {1}, {1}, 33, 7},       {{10, 8}, {0}, {3}, 6, 9},                                // slices that reach over the end
    {{10, 8}, {0, 1}, {1, 1}, 20, 9}, {{6, 5, 4}, {1}, {1}, 9, 4}, {{6, 5, 4}, {2, 0}, {1, 2}, 9, 5}, {{50}, {0}, {1}, 200, 49},
    {{300, 3}, {0}, {1}, 40, 299},    {{10, 8}, {0}, {1}, 0, 9},   {{1, 1}, {0}, {1}, 3, 0},          {{0, 4}, {0}, {0}, 3, 0},
};

// Offsets of slice i.
std::vector<double> tuple(const Values& offsets, std::size_t i) {
  const std::size_t d = offsets.shape.back();
  return std::vector<double>(offsets.values.begin() + static_cast<std::ptrdiff_t>(i * d),
                             offsets.values.begin() + static_cast<std::ptrdiff_t>((i + 1) * d));
}

enum class Op { set, add, max, mul, min };

double combine(Op op, const Type& type, double t, double s, double scale) {
  switch (op) {
    case Op::set: return s;
    case Op::add: return rounded(type, t + scale * s);
    case Op::max: return std::max(t, s);
    case Op::min: return std::min(t, s);
    default: return rounded(type, t * s);
  }
}

void update(Op op, Graph& g, const Tensor& t, const Tensor& s, const Tensor& offsets, const Tensor& scale, const Dims& dims,
            const Dims& sizes, Sequence& prog, const SlicePlan& plan, const OptionFlags& options) {
  switch (op) {
    case Op::set: return popops::multiUpdate(g, t, s, offsets, dims, sizes, prog, plan, options);
    case Op::add: return popops::multiUpdateAdd(g, t, s, offsets, scale, dims, sizes, prog, plan, options);
    case Op::max: return popops::multiUpdateMax(g, t, s, offsets, dims, sizes, prog, plan, options);
    case Op::mul: return popops::multiUpdateMul(g, t, s, offsets, dims, sizes, prog, plan, options);
    case Op::min: return popops::multiUpdateMin(g, t, s, offsets, dims, sizes, prog, plan, options);
  }
}

TEST(MultiSlice, SliceAndUpdates) {
  for (const Machine machine : kMachines)
    for (const Mapping mapping : kMappings)
      for (const Type& type : {FLOAT, HALF, INT, UNSIGNED_INT, BOOL, SHORT, UNSIGNED_SHORT, CHAR, SIGNED_CHAR, UNSIGNED_CHAR}) {
        if (mapping != Mapping::linear && type != FLOAT) continue;
        const bool is_unsigned = type == UNSIGNED_INT || type == UNSIGNED_SHORT || type == UNSIGNED_CHAR;
        for (const Multi& c : kMulti) {
          Dims shape = slice_shape(c.shape, c.dims, c.sizes);
          shape.insert(shape.begin(), c.n);
          const std::int64_t least = is_unsigned ? 0 : -2;
          const Operand t = operand("t", type, c.shape, integers(4 * least, 9, 1), mapping),
                        s = operand("s", type, shape, integers(least, 2, 2), mapping);
          const Operand offsets =
              operand("offsets", UNSIGNED_INT, {c.n, c.dims.size()}, integers(0, static_cast<std::int64_t>(c.most), 3), mapping);
          const Operand scale = operand("scale", type == HALF ? FLOAT : type, {}, [](std::size_t) { return 3; });
          const bool number = type != BOOL;
          const auto out = run(machine, {t, s, offsets, scale}, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
            std::vector<Tensor> results = {popops::multiSlice(g, in[0], in[2], c.dims, c.sizes, prog, SlicePlan(), {})};
            for (const Op op : {Op::set, Op::add, Op::max, Op::mul, Op::min}) {
              if (op != Op::set && !number) continue;
              const Tensor copy = g.clone(in[0]);
              prog.add(program::Copy(in[0], copy));
              update(op, g, copy, in[1], in[2], in[3], c.dims, c.sizes, prog, SlicePlan(), {});
              results.push_back(copy);
            }
            return results;
          });
          const std::string what =
              name_of(machine) + ' ' + name_of(mapping) + ' ' + type.toString() + ' ' + std::to_string(&c - &kMulti[0]);
          ASSERT_EQ(out[0].shape, shape) << what;
          std::vector<double> slices;
          std::vector<std::vector<double>> updated(5, t.values);
          const Dims one(shape.begin() + 1, shape.end());
          for (std::size_t i = 0; i < c.n; ++i)
            for_all(one, [&](const Dims& at) {
              const std::size_t from = source_of(c.shape, c.dims, tuple(offsets, i), at, false);
              slices.push_back(from == kNowhere ? 0 : t[from]);
              if (from == kNowhere) return;
              for (std::size_t op = 0; op < 5; ++op)
                updated[op][from] = combine(static_cast<Op>(op), type, updated[op][from], s[slices.size() - 1], 3);
            });
          expect_close(out[0], slices, what);
          for (std::size_t op = 0; op + 1 < out.size(); ++op)
            expect_close(out[op + 1], updated[op], what + " update " + std::to_string(op));
        }
      }
}

// The ends of the integers' ranges, and NaNs.
TEST(MultiSlice, LeastAndGreatestOfAll) {
  const double least = -2147483648.0, greatest = 2147483647;
  struct Row {
    Type type;
    std::vector<double> t, s, max, min;
  };
  const std::vector<Row> rows = {{INT, {least, 1, greatest}, {0, least, 1}, {0, 1, greatest}, {least, least, 1}},
                                 {UNSIGNED_INT, {0, 4294967295.0, 7}, {5, 0, 7}, {5, 4294967295.0, 7}, {0, 0, 7}},
                                 {LONGLONG, {-1e12, 1e12, 3}, {1e12, -1e12, 4}, {1e12, 1e12, 4}, {-1e12, -1e12, 3}},
                                 {SIGNED_CHAR, {-128, 127, 3}, {127, -128, 4}, {127, 127, 4}, {-128, -128, 3}},
                                 {FLOAT, {NAN, 1, 2}, {1, NAN, -INFINITY}, {NAN, NAN, 2}, {NAN, NAN, -INFINITY}}};
  for (const Machine machine : kMachines)
    for (const Row& row : rows) {
      const auto of = [](const std::vector<double>& v) { return [v](std::size_t i) { return v[i]; }; };
      const auto out = run(machine,
                           {operand("t", row.type, {3, 1}, of(row.t)), operand("s", row.type, {3, 1, 1}, of(row.s)),
                            operand("offsets", UNSIGNED_INT, {3, 1}, [](std::size_t i) { return static_cast<double>(i); })},
                           [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
                             const Tensor copy = g.clone(in[0]);
                             prog.add(program::Copy(in[0], copy));
                             popops::multiUpdateMax(g, in[0], in[1], in[2], {0}, {1}, prog, SlicePlan(), {});
                             popops::multiUpdateMin(g, copy, in[1], in[2], {0}, {1}, prog, SlicePlan(), {});
                             return std::vector<Tensor>{in[0], copy};
                           });
      expect_close(out[0], row.max, Tolerance{}, name_of(machine) + " max " + row.type.toString());
      expect_close(out[1], row.min, Tolerance{}, name_of(machine) + " min " + row.type.toString());
    }
}

// Planned, with each tensor as the plan wants it.
TEST(MultiSlice, Planned) {
  struct Table {
    std::size_t entries, output, lookups;
  };
  for (const Machine machine : {Machine::cpu, Machine::ipu1, Machine::ipu2, Machine::full})
    for (const Table& table : {Table{100, 32, 50}, Table{1000, 7, 300}, Table{4000, 1, 20}, Table{3, 64, 500}, Table{1, 1, 1}})
      for (const auto& [type, objective, memory] :
           {std::tuple(FLOAT, "cycles", "0.6"), {HALF, "cycles", "0.6"}, {FLOAT, "hostTime", "0.6"}, {HALF, "hostTime", "0.01"}}) {
        const OptionFlags options = {{"usedForUpdate", "true"},
                                     {"operationForUpdate", "add"},
                                     {"pando.planObjective", objective},
                                     {"availableMemoryProportion", memory}};
        const Operand values = operand("values", type, {table.entries, table.output}, integers(-9, 9, 1));
        const Operand updates = operand("updates", type, {table.lookups, 1, table.output}, integers(-2, 2, 2));
        const Operand indices =
            operand("indices", UNSIGNED_INT, {table.lookups, 1}, integers(0, static_cast<std::int64_t>(table.entries), 3));
        const Operand scale = operand("scale", type, {}, [](std::size_t) { return 2; });
        const auto out =
            run(machine, {values, updates, indices, scale}, [&, type = type](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
              const SlicePlan plan = popops::embedding::plan(g, type, table.entries, table.output, {table.lookups}, options);
              const Tensor t = popops::createSliceableTensor(g, type, {table.entries, table.output}, {0}, {1}, plan, options);
              const Tensor s = popops::createSliceTensor(g, type, {table.entries, table.output}, {0}, {1}, table.lookups, plan, options);
              const Tensor i = popops::createIndicesTensor(g, {0}, table.lookups, plan, options);
              prog.add(program::Copy(in[0], t));
              prog.add(program::Copy(in[1], s));
              prog.add(program::Copy(in[2], i));
              const Tensor slices = popops::multiSlice(g, t, i, {0}, {1}, prog, plan, options);
              popops::multiUpdateAdd(g, t, s, i, in[3], {0}, {1}, prog, plan, options);
              return std::vector<Tensor>{slices, t};
            });
        std::vector<double> slices, updated = values.values;
        for (std::size_t k = 0; k < table.lookups; ++k)
          for (std::size_t c = 0; c < table.output; ++c) {
            const auto row = static_cast<std::size_t>(indices[k]);
            slices.push_back(row < table.entries ? values[row * table.output + c] : 0);
            if (row < table.entries) updated[row * table.output + c] += 2 * updates[k * table.output + c];
          }
        const std::string what = name_of(machine) + ' ' + type.toString() + ' ' + std::to_string(table.entries);
        expect_close(out[0], slices, what);
        expect_close(out[1], updated, what);
      }
}

TEST(MultiSlice, Groups) {
  constexpr std::size_t kGroups = 3, kEntries = 20, kOutput = 5, kLookups = 8;
  for (const Machine machine : kMachines) {
    const Operand t = operand("t", FLOAT, {kGroups, kEntries, kOutput}, uniform(-1, 1, 1)),
                  s = operand("s", FLOAT, {kGroups, kLookups, 1, kOutput}, integers(-3, 3, 2));
    const Operand offsets = operand("offsets", UNSIGNED_INT, {kGroups, kLookups, 1}, integers(0, kEntries, 3));
    const Operand scale = operand("scale", FLOAT, {1}, [](std::size_t) { return 1; });
    const auto out = run(machine, {t, s, offsets, scale}, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
      const SlicePlan plan = popops::embedding::plan(g, FLOAT, kGroups, kEntries, kOutput, {kLookups}, {});
      const Tensor table = popops::createGroupedSliceableTensor(g, FLOAT, kGroups, {kEntries, kOutput}, {0}, {1}, plan, {});
      const Tensor slices = popops::createGroupedSliceTensor(g, FLOAT, kGroups, {kEntries, kOutput}, {0}, {1}, kLookups, plan, {});
      const Tensor indices = popops::createGroupedIndicesTensor(g, kGroups, {0}, kLookups, plan, {});
      prog.add(program::Copy(in[0], table));
      prog.add(program::Copy(in[1], slices));
      prog.add(program::Copy(in[2], indices));
      std::vector<Tensor> results = {popops::groupedMultiSlice(g, table, indices, {0}, {1}, prog, plan, {})};
      for (int op = 0; op < 5; ++op) {
        const Tensor copy = g.clone(table);
        prog.add(program::Copy(table, copy));
        if (op == 0) popops::groupedMultiUpdate(g, copy, slices, indices, {0}, {1}, prog, plan, {});
        if (op == 1) popops::groupedMultiUpdateAdd(g, copy, slices, indices, in[3], {0}, {1}, prog, plan, {});
        if (op == 2) popops::groupedMultiUpdateMax(g, copy, slices, indices, {0}, {1}, prog, plan, {});
        if (op == 3) popops::groupedMultiUpdateMul(g, copy, slices, indices, {0}, {1}, prog, plan, {});
        if (op == 4) popops::groupedMultiUpdateMin(g, copy, slices, indices, {0}, {1}, prog, plan, {});
        results.push_back(copy);
      }
      return results;
    });
    ASSERT_EQ(out[0].shape, (Dims{kGroups, kLookups, 1, kOutput}));
    std::vector<double> slices;
    std::vector<std::vector<double>> updated(5, t.values);
    for (std::size_t i = 0; i < kGroups * kLookups; ++i)
      for (std::size_t c = 0; c < kOutput; ++c) {
        const auto row = static_cast<std::size_t>(offsets[i]);
        const std::size_t from = (i / kLookups * kEntries + row) * kOutput + c;
        slices.push_back(row < kEntries ? t[from] : 0);
        if (row < kEntries)
          for (std::size_t op = 0; op < 5; ++op)
            updated[op][from] = combine(static_cast<Op>(op), FLOAT, updated[op][from], s[i * kOutput + c], 1);
      }
    expect_close(out[0], slices, name_of(machine));
    for (std::size_t op = 0; op < 5; ++op) expect_close(out[op + 1], updated[op], name_of(machine) + " update " + std::to_string(op));
  }
}

TEST(MultiSlice, KnownOffsets) {
  const Operand t = operand("t", FLOAT, {4, 5}, uniform(-1, 1, 1)), s = operand("s", FLOAT, {4, 3}, integers(-3, 3, 2)),
                scale = operand("scale", FLOAT, {}, [](std::size_t) { return 2; });
  const std::vector<unsigned> offsets = {4, 0, 4};
  for (const Machine machine : kMachines) {
    const auto out = run(machine, {t, s, scale}, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
      const Tensor slices = popops::multiSlice(g, in[0], offsets, 1, prog);
      popops::multiUpdateAdd(g, in[0], in[1], offsets, in[2], 1, prog);
      return std::vector<Tensor>{slices, in[0]};
    });
    std::vector<double> slices, updated = t.values;
    for (std::size_t r = 0; r < 4; ++r)
      for (std::size_t k = 0; k < 3; ++k) {
        slices.push_back(t[r * 5 + offsets[k]]);
        updated[r * 5 + offsets[k]] += 2 * s[r * 3 + k];
      }
    ASSERT_EQ(out[0].shape, (Dims{4, 3}));
    expect_close(out[0], slices, name_of(machine));
    expect_close(out[1], updated, name_of(machine));
  }
}

// What lies beside the table in memory stays as it was, whatever the offsets are.
TEST(MultiSlice, OffsetsReachNoOtherMemory) {
  constexpr std::size_t kBorder = 64, kRows = 6;
  const std::vector<double> offsets = {0, 6, 7, 69, 4294967295.0, 2147483648.0, 4294967290.0, 5};
  for (const Machine machine : kMachines) {
    const Operand all = operand("all", FLOAT, {2 * kBorder + kRows, 4}, uniform(1, 2, 1)),
                  s = operand("s", FLOAT, {offsets.size(), 1, 4}, uniform(3, 4, 2));
    const Operand o = operand("o", UNSIGNED_INT, {offsets.size(), 1}, [&](std::size_t i) { return offsets[i]; });
    const auto out = run(machine, {all, s, o}, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
      const Tensor table = in[0].slice(kBorder, kBorder + kRows);
      const Tensor slices = popops::multiSlice(g, table, in[2], {0}, {1}, prog, SlicePlan(), {});
      const Tensor signed_ones = popops::multiSlice(g, table, in[2].reinterpret(INT), {0}, {1}, prog, SlicePlan(), {});
      const Tensor remapped = popops::multiSlice(g, table, in[2], {0}, {1}, prog, SlicePlan(), {{"remapOutOfBoundIndices", "true"}});
      popops::multiUpdate(g, table, in[1], in[2], {0}, {1}, prog, SlicePlan(), {});
      return std::vector<Tensor>{slices, signed_ones, remapped, in[0]};
    });
    std::vector<double> slices, remapped, updated = all.values;
    for (std::size_t i = 0; i < offsets.size(); ++i)
      for (std::size_t c = 0; c < 4; ++c) {
        const bool exists = offsets[i] < kRows;
        const std::size_t from = (kBorder + static_cast<std::size_t>(exists ? offsets[i] : 0)) * 4 + c;
        slices.push_back(exists ? all[from] : 0);
        remapped.push_back(all[from]);
        if (exists) updated[from] = s[i * 4 + c];
      }
    expect_close(out[0], slices, name_of(machine));
    expect_close(out[1], slices, name_of(machine));
    expect_close(out[2], remapped, name_of(machine));
    expect_close(out[3], updated, name_of(machine));
  }
}

TEST(MultiSlice, ValidateIndicesStopsTheProgram) {
  for (const Machine machine : kMachines)
    for (const double last : {3.0, 4.0}) {
      const Operand t = operand("t", FLOAT, {4, 2}, uniform(1, 2, 1)),
                    o = operand("o", UNSIGNED_INT, {2, 1}, [&](std::size_t i) { return i == 0 ? 0 : last; });
      const auto slice = [&] {
        return run(machine, {t, o}, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
          return std::vector<Tensor>{popops::multiSlice(g, in[0], in[1], {0}, {1}, prog, SlicePlan(), {{"validateIndices", "true"}})};
        });
      };
      if (last < 4)
        expect_close(slice()[0], {t[0], t[1], t[6], t[7]}, name_of(machine));
      else
        EXPECT_THROW(slice(), poplar::application_runtime_error) << name_of(machine);
    }
}

// Memory for few slices at a time: more rounds, the same result.
TEST(MultiSlice, RoundsOfLookups) {
  constexpr std::size_t kRows = 500, kColumns = 64, kLookups = 20000;
  const Operand t = operand("t", FLOAT, {kRows, kColumns}, integers(0, 1000, 1)),
                o = operand("o", UNSIGNED_INT, {kLookups, 1}, integers(0, kRows, 2));
  const auto slice = [&](const char* memory) {
    return run(Machine::ipu1, {t, o}, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
      return std::vector<Tensor>{popops::multiSlice(g, in[0], in[1], {0}, {1}, prog, SlicePlan(), {{"availableMemoryProportion", memory}})};
    })[0];
  };
  std::vector<double> expected;
  for (std::size_t i = 0; i < kLookups; ++i)
    for (std::size_t c = 0; c < kColumns; ++c) expected.push_back(o[i] < kRows ? t[static_cast<std::size_t>(o[i]) * kColumns + c] : 0);
  expect_close(slice("0.05"), expected);
  expect_close(slice("0.6"), expected);
}

TEST(MultiSlice, AllTilesWork) {
  for (const Type& type : {FLOAT, HALF, INT}) {
    const Operand t = operand("t", type, {2000, 64}, integers(0, 9, 1)), o = operand("o", UNSIGNED_INT, {2000, 1}, integers(0, 1999, 1));
    const Operand s = operand("s", type, {2000, 1, 64}, integers(0, 9, 1)),
                  scale = operand("scale", type, {}, [](std::size_t) { return 1; });
    EXPECT_GE(share_of_tiles_used(Machine::full, {t, o},
                                  [](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
                                    return std::vector<Tensor>{popops::multiSlice(g, in[0], in[1], {0}, {1}, prog, SlicePlan(), {})};
                                  }),
              0.9)
        << type;
    EXPECT_GE(share_of_tiles_used(Machine::full, {t, o, s, scale},
                                  [](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
                                    popops::multiUpdateAdd(g, in[0], in[2], in[1], in[3], {0}, {1}, prog, SlicePlan(), {});
                                    return std::vector<Tensor>{};
                                  }),
              0.9)
        << type;
  }
  const Operand t = operand("t", FLOAT, {4, 100000}, integers(0, 9, 1)), s = operand("s", FLOAT, {1, 100000}, integers(0, 9, 1)),
                o = operand("o", UNSIGNED_INT, {1}, integers(0, 3, 1));
  EXPECT_GE(share_of_tiles_used(Machine::full, {t, s, o},
                                [](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
                                  return std::vector<Tensor>{popops::dynamicSlice(g, in[0], in[2], {0}, {1}, prog)};
                                }),
            0.9);
  EXPECT_GE(share_of_tiles_used(Machine::full, {t, s, o},
                                [](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
                                  popops::dynamicUpdate(g, in[0], in[1], in[2], {0}, {1}, prog);
                                  return std::vector<Tensor>{};
                                }),
            0.9);
}

TEST(DynamicSlice, CreatedTensorsLieWell) {
  Device device = device_of(Machine::full);
  Graph graph(device.getTarget());
  for (const Dims& shape : {Dims{100, 20000}, Dims{100000, 64}, Dims{50, 40, 30}}) {
    const Tensor t = popops::createSliceableTensor(graph, FLOAT, shape, {0}, {1});
    EXPECT_EQ(t.shape(), shape);
    std::size_t used = 0, most = 0;
    for (const auto& tile : graph.getTileMapping(t)) {
      std::size_t n = 0;
      for (const Interval& i : tile) n += i.size();
      used += n != 0;
      most = std::max(most, n);
    }
    EXPECT_LE(most, 3 * product(shape) / used) << shape[0];
  }
  const Tensor slice = graph.addVariable(FLOAT, {2, 3, 4}, VariableMappingMethod::LINEAR, "slice");
  const Tensor many = popops::createSliceableTensorFromSlice(graph, slice, {0, 2}, {5, 6});
  EXPECT_EQ(many.shape(), (Dims{10, 3, 24}));
  EXPECT_EQ(graph.getTileMapping(many.slice({2, 0, 4}, {4, 3, 8})), graph.getTileMapping(slice));
  const Tensor t = popops::createSliceableTensor(graph, HALF, {6, 64}, {0}, {1});
  EXPECT_EQ(popops::getSliceMapping(graph, t, {0}, {1}), graph.getTileMapping(t.slice(0, 1)));
  EXPECT_EQ(popops::createSliceTensor(graph, t, {0}, {2}, 7).shape(), (Dims{7, 2, 64}));
}

TEST(SlicePlans, PrintAndCompare) {
  Device device = device_of(Machine::full);
  Graph graph(device.getTarget());
  const SlicePlan a = popops::embedding::plan(graph, FLOAT, 100000, 64, {10000}, {}),
                  b = popops::embedding::plan(graph, FLOAT, 100, 64, {10}, {});
  std::ostringstream text;
  text << a << '\n' << SlicePlan();
  EXPECT_THAT(text.str(), ::testing::HasSubstr("100000 entries of 64 float, 10000 lookups; parts: "));
  EXPECT_THAT(text.str(), ::testing::HasSubstr("SlicePlan: none"));
  EXPECT_TRUE(a == SlicePlan(a));
  EXPECT_TRUE(a != b);
  EXPECT_NE(a < b, b < a);
  const auto plans = popops::embedding::planMultiple({{graph, FLOAT, 100000, 64, {10000}, {}}, {graph, FLOAT, 1, 100, 64, {10}, {}}});
  ASSERT_EQ(plans.size(), 2u);
  EXPECT_TRUE(plans[0] == a);
  EXPECT_TRUE(plans[1] == b);
}

TEST(DynamicSlice, Errors) {
  Device device = device_of(Machine::ipu1);
  Graph g(device.getTarget());
  Sequence prog;
  const auto variable = [&](const Type& type, const Dims& shape) { return g.addVariable(type, shape, VariableMappingMethod::LINEAR, "v"); };
  const Tensor t = variable(FLOAT, {4, 5}), one = variable(UNSIGNED_INT, {1}), offsets = variable(UNSIGNED_INT, {3, 1}),
               scale = variable(FLOAT, {});
  using poputil::poplibs_error;
  EXPECT_THROW(popops::dynamicSlice(g, t, one, {2}, {1}, prog), poplibs_error);                                // no such dimension
  EXPECT_THROW(popops::dynamicSlice(g, t, one, {0}, {5}, prog), poplibs_error);                                // too large
  EXPECT_THROW(popops::dynamicSlice(g, t, one, {0}, {1, 1}, prog), poplibs_error);                             // lengths differ
  EXPECT_THROW(popops::dynamicSlice(g, t, variable(UNSIGNED_INT, {2}), {0, 0}, {1, 1}, prog), poplibs_error);  // twice
  EXPECT_THROW(popops::dynamicSlice(g, t, variable(FLOAT, {1}), {0}, {1}, prog), poplibs_error);               // type of the offset
  EXPECT_THROW(popops::dynamicSlice(g, t, variable(UNSIGNED_INT, {2}), {0}, {1}, prog), poplibs_error);
  EXPECT_THROW(popops::dynamicSliceWithOutput(g, variable(FLOAT, {1, 4}), t, one, {0}, {1}, prog), poplibs_error);
  EXPECT_THROW(popops::dynamicUpdate(g, t, variable(FLOAT, {2, 5}), one, {0}, {1}, prog), poplibs_error);
  EXPECT_THROW(popops::dynamicUpdate(g, t, variable(HALF, {1, 5}), one, {0}, {1}, prog), poplibs_error);
  EXPECT_THROW(popops::dynamicUpdate(g, t[0].expand({0}).broadcast(4, 0), variable(FLOAT, {1, 5}), one, {0}, {1}, prog), poplibs_error);
  EXPECT_THROW(popops::multiSlice(g, t, one, {0}, {1}, prog, SlicePlan(), {}), poplibs_error);  // rank of the offsets
  EXPECT_THROW(popops::multiSlice(g, t, offsets, {0}, {1}, prog, SlicePlan(), {{"nonsense", "1"}}), poplar::invalid_option);
  EXPECT_THROW(popops::multiSlice(g, t, {7}, 0, prog), poplibs_error);
  EXPECT_THROW(popops::groupedMultiSlice(g, t, variable(UNSIGNED_INT, {3, 2, 1}), {0}, {1}, prog, SlicePlan(), {}), poplibs_error);
  EXPECT_THROW(popops::multiUpdate(g, t, variable(FLOAT, {2, 1, 5}), offsets, {0}, {1}, prog, SlicePlan(), {}), poplibs_error);
  const Tensor s = variable(FLOAT, {3, 1, 5}), bools = variable(BOOL, {4, 5});
  EXPECT_THROW(popops::multiUpdateAdd(g, t, s, offsets, variable(INT, {}), {0}, {1}, prog, SlicePlan(), {}), poplibs_error);
  EXPECT_THROW(popops::multiUpdateAdd(g, t, s, offsets, variable(FLOAT, {2}), {0}, {1}, prog, SlicePlan(), {}), poplibs_error);
  EXPECT_THROW(popops::multiUpdateMax(g, bools, variable(BOOL, {3, 1, 5}), offsets, {0}, {1}, prog, SlicePlan(), {}), poplibs_error);
  EXPECT_THROW(popops::multiUpdateAdd(g, t, variable(FLOAT, {3, 5}), {1, 2}, scale, 0, prog), poplibs_error);
  EXPECT_THROW(popops::createSliceableTensorFromSlice(g, s, {0}, {1, 2}), poplibs_error);
  EXPECT_THROW(popops::embedding::plan(g, FLOAT, 10, 10, {5}, {{"usedForSlice", "maybe"}}), poplar::invalid_option);
  EXPECT_THROW(popops::embedding::plan(g, FLOAT, 10, 10, {5}, {{"usedForSlice", "false"}, {"usedForUpdate", "false"}}), poplibs_error);
  EXPECT_THROW(popops::embedding::plan(g, FLOAT, 10, 10, {5}, {{"planConstraints", "{split"}}), poplar::invalid_option);
  EXPECT_NO_THROW(popops::embedding::plan(g, FLOAT, 10, 10, {5}, {{"planConstraints", R"({"lookupSplit": 2})"}}));
}

}  // namespace
}  // namespace oplib
