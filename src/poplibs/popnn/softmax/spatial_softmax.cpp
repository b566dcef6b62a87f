#include <poplin/MatMul.hpp>
#include <popnn/SpatialSoftMax.hpp>
#include <popops/ElementWise.hpp>
#include <poputil/TileMapping.hpp>
#include <poputil/exceptions.hpp>

#include <vector>

#include "poplibs/popnn/softmax/softmax.h"
#include "poplibs/poputil/reject.h"

namespace popnn {

using namespace poplar;

namespace {

float coordinate(std::size_t i, std::size_t n) { return n == 1 ? 0 : 2 * static_cast<float>(i) / static_cast<float>(n - 1) - 1; }

// {height * width, 2}
Tensor add_coordinates(Graph& graph, const Type& type, std::size_t height, std::size_t width, const DebugContext& debug) {
  std::vector<float> values;
  for (std::size_t y = 0; y < height; ++y)
    for (std::size_t x = 0; x < width; ++x) {
      values.push_back(coordinate(y, height));
      values.push_back(coordinate(x, width));
    }
  const Tensor out = graph.addConstant(type, {height * width, 2}, values, {debug, "coordinates"});
  poputil::mapTensorLinearly(graph, out);
  return out;
}

}  // namespace

std::pair<Tensor, Tensor> spatialSoftMax2D(Graph& graph, program::Sequence& prog, const Tensor& fields, float temperature,
                                           bool disableSoftmax, const DebugContext& debugContext) {
  const DebugContext debug(debugContext, "SpatialSoftMax");
  const Type type = fields.elementType();
  if (fields.rank() != 3 || (type != FLOAT && type != HALF) || fields.numElements() == 0)
    poputil::reject("fields-shape", "{}",
                    "popnn::spatialSoftMax2D: the fields have shape " + fields.shapeToString() + " and type " + type.toString() +
                        ", expected {fields, height, width} of float or half, none 0");
  if (temperature == 0) poputil::reject("zero-temperature", "popnn::spatialSoftMax2D: the temperature is 0");
  const Tensor heat = graph.addVariable(type, {}, {debug, "temperature"});
  graph.setTileMapping(heat, 0);
  graph.setInitialValue(heat, temperature);
  Tensor weights = fields.flatten(1, 3);
  if (!disableSoftmax) {
    weights = popops::div(graph, weights, heat, prog, {debug, "Temperature"});
    internal::softmax_in_place(graph, weights, {}, prog, debug);
  }
  const Tensor coordinates = add_coordinates(graph, type, fields.dim(1), fields.dim(2), debug);
  return {poplin::matMul(graph, weights, coordinates, prog, type, {debug, "Expectation"}), heat};
}

}  // namespace popnn
