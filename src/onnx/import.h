// ONNX models as modules.
//
// Graph inputs and floating initializers become variables of the main graph, the latter with their data; outputs its outputs. So do
// floating constants of two dimensions and more that a product, a convolution or a gather takes. What depends on shapes and constants alone
// is computed at import, so shapes must be known: sizes of named dimensions are options.
#pragma once

#include "ir/module.h"
#include "onnx/model.h"

#include <map>
#include <string>

namespace pando::onnx {

struct ImportOptions {
  // Named dimensions ("batch", "sequence").
  std::map<std::string, std::int64_t> dimensions;
  // Inputs without data are loaded from streams of their names, outputs stored to such: a program that runs. Otherwise they are variables,
  // and outputs of the main graph.
  bool streams = false;
};

// Refuses (value): all ops that are not known, in one error; dimensions without a size; operands that are not there; what the ops refuse,
// with the node's name.
ir::Module import_model(const Model& model, const ImportOptions& options = {});
// From a file.
ir::Module import_file(const std::string& path, const ImportOptions& options = {});

}  // namespace pando::onnx
