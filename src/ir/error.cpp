#include "ir/error.h"

namespace pando {

ModelError::ModelError(Class kind, std::string id, const std::string& message, std::string location)
    : std::runtime_error(message), kind_(kind), id_(std::move(id)), location_(std::move(location)) {}

ModelError::~ModelError() = default;

namespace ir {

void throw_model_error(ErrorClass kind, std::string_view id, const std::string& message, const std::string& location) {
  std::string text = message;
  if (!location.empty()) text += fmt::format("\n  at {}", location);
  text += fmt::format(" [{}]", id);
  throw ModelError(kind, std::string(id), text, location);
}

}  // namespace ir
}  // namespace pando
