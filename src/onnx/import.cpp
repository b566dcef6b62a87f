#include "onnx/import.h"

#include "base/files/input_file.h"
#include "ir/reject_at.h"
#include "onnx/importer.h"

namespace pando::onnx {

ir::Module import_model(const Model& model, const ImportOptions& options) { return Importer(model, options).run(); }

ir::Module import_file(const std::string& path, const ImportOptions& options) { return import_model(read_model(path), options); }

Model read_model(const std::string& path) {
  std::string text;
  if (const std::string why = read_input_file(path, text, kMostModelBytes); !why.empty())
    ir::reject_at(ir::ErrorClass::value, "onnx-file", {path}, "it cannot be read: {}", why);
  const std::size_t slash = path.rfind('/');
  return read(text, slash == std::string::npos ? "." : path.substr(0, slash), path);
}

std::vector<OperatorNote> operator_notes() {
  std::vector<OperatorNote> all;
  for (const KnownOperator& o : operator_table())
    all.push_back({o.signature.domain, o.signature.name, std::string(o.row->signature), std::string(o.row->limits)});
  return all;
}

}  // namespace pando::onnx
