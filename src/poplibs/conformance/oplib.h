// How the op libraries are tested: run an operation on a device, with operands of given type, shape and mapping, and compare what
// comes out with a reference in double. Tests loop over tables: operation x type x shape x mapping x device.
//
//   const Operand x = operand("x", FLOAT, {8, 3}, uniform(-2, 2, 1));
//   const auto out = run(Machine::ipu2, {x}, [](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
//     return std::vector<Tensor>{popops::exp(g, in[0], prog)};
//   });
//   expect_close(out[0], map1(x, [](double v) { return std::exp(v); }));
#pragma once

#include <gmock/gmock.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <poplar/Device.hpp>
#include <poplar/Graph.hpp>
#include <poplar/OptionFlags.hpp>
#include <poplar/Program.hpp>

namespace oplib {

// cpu: createCPUDevice. ipu1: one IPU of 16 tiles. ipu2: two of 16. full: one IPU of 1,472 tiles.
enum class Machine { cpu, ipu1, ipu2, full };
inline const std::vector<Machine> kMachines = {Machine::cpu, Machine::ipu1, Machine::ipu2};
std::string name_of(Machine machine);
poplar::Device device_of(Machine machine);

// How an operand lies over the tiles. linear: equal contiguous parts, in order. one: all on one tile (the last). scattered: pieces
// of five elements on tiles in an order that has nothing to do with theirs. views: linear, but the tensor is a transposed view.
enum class Mapping { linear, one, scattered, views };
inline const std::vector<Mapping> kMappings = {Mapping::linear, Mapping::one, Mapping::scattered, Mapping::views};
std::string name_of(Mapping mapping);
void map_tensor(poplar::Graph& graph, const poplar::Tensor& tensor, Mapping mapping);

// An operand or a result: its values as doubles that its type can hold exactly.
struct Values {
  poplar::Type type = poplar::FLOAT;
  std::vector<std::size_t> shape;
  std::vector<double> values;  // row-major
  // 64-bit integers beyond 2^53 do not fit a double; tests that need them bring these instead.
  double operator[](std::size_t i) const { return values[i]; }
  std::size_t size() const { return values.size(); }
};

struct Operand : Values {
  std::string name;
  Mapping mapping = Mapping::linear;
};

// value(i) for every element, rounded to the type.
Operand operand(const std::string& name, const poplar::Type& type, const std::vector<std::size_t>& shape,
                const std::function<double(std::size_t)>& value, Mapping mapping = Mapping::linear);
// Pseudo-random values, the same on every run. `uniform` for floating types; `integers` in [low, high].
std::function<double(std::size_t)> uniform(double low, double high, std::uint64_t seed);
std::function<double(std::size_t)> integers(std::int64_t low, std::int64_t high, std::uint64_t seed);

// The double that is nearest to `value` among those of the type (integers: truncated and wrapped; bool: 0 or 1).
double rounded(const poplar::Type& type, double value);

struct RunOptions {
  poplar::OptionFlags engine;
  bool in_place = false;  // also read the operands back, appended to the results
  unsigned repetitions = 1;
};

using Build = std::function<std::vector<poplar::Tensor>(poplar::Graph&, std::vector<poplar::Tensor>&, poplar::program::Sequence&)>;

// Builds a graph with the operands as host-written variables, calls `build`, runs its program and reads what it returned.
// All five libraries' codelets are added.
std::vector<Values> run(Machine machine, const std::vector<Operand>& operands, const Build& build, const RunOptions& options = {});

// The tiles that hold a vertex of the program `build` makes, as a share of all tiles of the machine.
double share_of_tiles_used(Machine machine, const std::vector<Operand>& operands, const Build& build);

// A row of a table: an operation over some 10^5 elements that lie linearly, and the types that it takes.
struct ShareRow {
  std::string name;
  std::vector<poplar::Type> types;
  std::function<void(poplar::Graph&, const poplar::Type&, poplar::program::Sequence&)> build;
};
extern const std::vector<poplar::Type> kAllTypes;
// Each type of a row has vertices on 90 % of the 1,472 tiles; the other types of kAllTypes are rejected with a poplibs_error.
void expect_shares(const std::vector<ShareRow>& rows);
poplar::Tensor linear(poplar::Graph& graph, const poplar::Type& type, const std::vector<std::size_t>& shape);

// Element by element: |a - e| <= absolute + relative * |e|; equal infinities and NaN for NaN. Shows the first differences.
struct Tolerance {
  double relative = 0;
  double absolute = 0;
};
Tolerance tolerance_of(const poplar::Type& type);  // float 2e-6, half 2e-3, integers 0; the absolute part is a tenth of it
void expect_close(const Values& actual, const std::vector<double>& expected, Tolerance tolerance, const std::string& what = "");
inline void expect_close(const Values& actual, const std::vector<double>& expected, const std::string& what = "") {
  expect_close(actual, expected, tolerance_of(actual.type), what);
}

// f of every element.
std::vector<double> map1(const Values& x, const std::function<double(double)>& f);
std::vector<double> map2(const Values& x, const Values& y, const std::function<double(double, double)>& f);

bool is_floating(const poplar::Type& type);

}  // namespace oplib
