#include "onnx/import.h"

#include "ir/refuse_at.h"
#include "onnx/importer.h"

#include <fstream>
#include <sstream>

namespace pando::onnx {

ir::Module import_model(const Model& model, const ImportOptions& options) { return Importer(model, options).run(); }

ir::Module import_file(const std::string& path, const ImportOptions& options) {
  std::ifstream file(path, std::ios::binary);
  if (!file) ir::refuse_at(ir::ErrorClass::value, "onnx-file", {path}, "it cannot be read");
  std::ostringstream bytes;
  bytes << file.rdbuf();
  const std::size_t slash = path.rfind('/');
  const std::string text = std::move(bytes).str();
  return import_model(read(text, slash == std::string::npos ? "." : path.substr(0, slash), path), options);
}

std::vector<OperatorNote> operator_notes() {
  std::vector<OperatorNote> all;
  for (const KnownOperator& o : operator_table())
    all.push_back({o.signature.domain, o.signature.name, std::string(o.row->signature), std::string(o.row->limits)});
  return all;
}

}  // namespace pando::onnx
