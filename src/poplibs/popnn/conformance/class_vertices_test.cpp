// The vertices for classes with labels that programs add by their names, against plain references.
#include <poputil/VertexTemplates.hpp>

#include <algorithm>
#include <numeric>

#include "oplib.h"

namespace oplib {
namespace {

using namespace poplar;
using poputil::templateVertex;
using program::Sequence;
using Tensors = std::vector<Tensor>;

constexpr double kNoClass = 4294967295.0;

double least_of(const Type& type) {
  if (type == FLOAT) return -3.40282346638528859812e38;
  return type == HALF ? -65504 : type == INT ? -2147483648.0 : 0;
}

Operand activations_of(const Type& type, std::size_t n, std::uint64_t seed) {
  return operand("activations", type, {n}, is_floating(type) ? uniform(-4, 4, seed) : integers(type == INT ? -9 : 0, 9, seed));
}

// Places of the elements [begin, end), greatest first; of equals the one with the lesser class.
std::vector<std::size_t> descending(const Values& x, std::size_t begin, std::size_t end,
                                    const std::function<double(std::size_t)>& class_of) {
  std::vector<std::size_t> order(end - begin);
  std::iota(order.begin(), order.end(), begin);
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return x[a] == x[b] ? class_of(a) < class_of(b) : x[a] > x[b]; });
  return order;
}

Tensor variable_on(Graph& g, const Type& type, std::vector<std::size_t> shape) {
  const Tensor t = g.addVariable(type, shape);
  g.setTileMapping(t, 0);
  return t;
}

// One vertex on tile 0.
VertexRef vertex_of(Graph& g, Sequence& prog, const std::string& name) {
  const ComputeSet set = g.addComputeSet("classes");
  const VertexRef v = g.addVertex(set, name);
  g.setTileMapping(v, 0);
  prog.add(program::Execute(set));
  return v;
}

TEST(ClassVertices, TheGreatestOfEachPiece) {
  for (const Type& type : {FLOAT, HALF, INT, UNSIGNED_INT})
    for (const Type& label : {UNSIGNED_INT, INT})
      for (const std::size_t size : {1, 3, 4, 5, 24}) {
        constexpr unsigned kPiece = 4, kIndex = 100;
        const std::size_t pieces = (size + kPiece - 1) / kPiece;
        const Operand x = activations_of(type, size, size);
        const auto out = run(Machine::ipu1, {x}, [&](Graph& g, Tensors& in, Sequence& prog) {
          const Tensor value = variable_on(g, type == HALF ? FLOAT : type, {pieces}), index = variable_on(g, label, {pieces});
          const VertexRef v = vertex_of(g, prog, templateVertex("popnn::ReduceMaxClassGather", type, label));
          g.connect(v["activations"], in[0]);
          g.connect(v["maxValue"], value);
          g.connect(v["maxIndex"], index);
          g.setInitialValue(v["index"], kIndex);
          g.setInitialValue(v["size"], static_cast<unsigned>(size));
          g.setInitialValue(v["workerSize"], kPiece);
          return Tensors{value, index};
        });
        std::vector<double> values, places;
        for (std::size_t begin = 0; begin < size; begin += kPiece) {
          const auto best = descending(x, begin, std::min<std::size_t>(begin + kPiece, size), [](std::size_t i) { return double(i); })[0];
          values.push_back(x[best]);
          places.push_back(static_cast<double>(kIndex + best));
        }
        expect_close(out[0], values, Tolerance{}, "values " + type.toString());
        expect_close(out[1], places, Tolerance{}, "classes " + type.toString());
      }
}

TEST(ClassVertices, TheGreatestWithItsLabel) {
  for (const Type& type : {FLOAT, HALF, INT, UNSIGNED_INT})
    for (const Type& label : {UNSIGNED_INT, INT})
      for (const std::size_t size : {1, 2, 24}) {
        const Operand x = activations_of(type, size, size), labels = operand("labels", label, {size}, integers(0, 500, 3));
        const auto out = run(Machine::ipu1, {x, labels}, [&](Graph& g, Tensors& in, Sequence& prog) {
          const Tensor value = variable_on(g, type, {}), index = variable_on(g, label, {});
          const VertexRef v = vertex_of(g, prog, templateVertex("popnn::ReduceMaxClassSparse", type, label));
          g.connect(v["activations"], in[0]);
          g.connect(v["labels"], in[1]);
          g.connect(v["maxValue"], value);
          g.connect(v["maxIndex"], index);
          return Tensors{value, index};
        });
        const std::size_t best = descending(x, 0, size, [](std::size_t i) { return double(i); })[0];
        expect_close(out[0], {x[best]}, Tolerance{}, "value " + type.toString());
        expect_close(out[1], {labels[best]}, Tolerance{}, "label " + type.toString());
      }
}

TEST(ClassVertices, SomeOfEachPiece) {
  for (const Type& type : {FLOAT, HALF, INT, UNSIGNED_INT})
    for (const bool sort : {false, true})
      for (const unsigned k : {1u, 3u, 7u}) {
        constexpr unsigned kSize = 21, kIndex = 5;  // pieces of 4, the last of 1
        const std::size_t pieces = 6;
        const Operand x = activations_of(type, kSize, k);
        const auto out = run(Machine::ipu1, {x}, [&](Graph& g, Tensors& in, Sequence& prog) {
          const Tensor values = variable_on(g, type, {pieces * k}), classes = variable_on(g, UNSIGNED_INT, {pieces * k});
          const VertexRef v = vertex_of(g, prog, templateVertex("popnn::ReduceMaxNClassGather", type, sort));
          g.connect(v["activations"], in[0]);
          g.connect(v["maxValues"], values);
          g.connect(v["maxValuesIndices"], classes);
          g.setInitialValue(v["index"], kIndex);
          g.setInitialValue(v["size"], kSize);
          g.setInitialValue(v["divisorLog2"], static_cast<unsigned short>(2));
          g.setInitialValue(v["numK"], k);
          g.setInitialValue(v["shouldSort"], sort);
          return Tensors{values, classes};
        });
        std::vector<double> values, classes;
        for (std::size_t begin = 0; begin < kSize; begin += 4) {
          const auto order = descending(x, begin, std::min<std::size_t>(begin + 4, kSize), [](std::size_t i) { return double(i); });
          for (std::size_t i = 0; i < k; ++i) {
            values.push_back(i < order.size() ? x[order[i]] : least_of(type));
            classes.push_back(i < order.size() ? static_cast<double>(kIndex + order[i]) : kNoClass);
          }
        }
        expect_close(out[0], values, Tolerance{}, "values " + type.toString());
        expect_close(out[1], classes, Tolerance{}, "classes " + type.toString());
      }
}

TEST(ClassVertices, SomeWithTheirLabels) {
  for (const Type& type : {FLOAT, HALF, INT, UNSIGNED_INT})
    for (const bool sort : {false, true})
      for (const unsigned k : {1u, 5u, 13u, 15u}) {
        constexpr std::size_t kSize = 13;
        const Operand x = activations_of(type, kSize, k);
        const Operand labels = operand("labels", UNSIGNED_INT, {kSize}, [](std::size_t i) { return double(i * 5 % kSize); });
        const auto out = run(Machine::ipu1, {x, labels}, [&](Graph& g, Tensors& in, Sequence& prog) {
          const Tensor values = variable_on(g, type, {k}), classes = variable_on(g, UNSIGNED_INT, {k});
          const VertexRef v = vertex_of(g, prog, templateVertex("popnn::ReduceMaxNClassSparse", type, sort));
          g.connect(v["activations"], in[0]);
          g.connect(v["labels"], in[1]);
          g.connect(v["maxValues"], values);
          g.connect(v["maxValuesIndices"], classes);
          g.setInitialValue(v["numK"], k);
          g.setInitialValue(v["shouldSort"], sort);
          return Tensors{values, classes};
        });
        const auto order = descending(x, 0, kSize, [&](std::size_t i) { return labels[i]; });
        std::vector<double> values, classes;
        for (std::size_t i = 0; i < k; ++i) {
          values.push_back(i < kSize ? x[order[i]] : least_of(type));
          classes.push_back(i < kSize ? labels[order[i]] : kNoClass);
        }
        expect_close(out[0], values, Tolerance{}, "values " + type.toString());
        expect_close(out[1], classes, Tolerance{}, "classes " + type.toString());
      }
}

}  // namespace
}  // namespace oplib
