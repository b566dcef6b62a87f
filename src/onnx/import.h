// ONNX models as modules.
//
// Graph inputs and floating initializers become variables of the main graph, the latter with their data; outputs its outputs. So do
// floating constants of two dimensions and more that a product, a convolution or a gather takes. What depends on shapes and constants alone
// is computed at import, so shapes must be known: sizes of named dimensions are options, and so are the values of inputs that say shapes.
#pragma once

#include "ir/module.h"
#include "onnx/model.h"

#include <map>
#include <string>
#include <vector>

namespace pando::onnx {

struct ImportOptions {
  // Named dimensions ("batch", "sequence"), and by input and place those that have no name ("x.0": the first of input 'x').
  std::map<std::string, std::int64_t> dimensions;
  // Inputs without data are loaded from streams of their names, outputs stored to such: a program that runs. Otherwise they are variables,
  // and outputs of the main graph.
  bool streams = false;
  // Inputs whose values are a part of the program, such as axes and shapes that a node takes. They are no inputs of what is made.
  std::map<std::string, ir::HostTensor> values;
};

// Rejects (value): all ops that are not known, in one error; dimensions without a size; operands that are not there; what the ops reject,
// with the node's name.
ir::Module import_model(const Model& model, const ImportOptions& options = {});
// From a file.
Model read_model(const std::string& path);
ir::Module import_file(const std::string& path, const ImportOptions& options = {});

// One of the operators that are read: name and domain, its signature (see onnx/operator.h), what of it is rejected.
struct OperatorNote {
  std::string domain, name, signature, limits;
};
std::vector<OperatorNote> operator_notes();

}  // namespace pando::onnx
