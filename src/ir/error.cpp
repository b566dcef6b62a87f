#include "ir/error.h"

namespace pando {

// what() is a text of C: a zero in what a user wrote would cut it.
static std::string without_zeros(std::string text) {
  for (std::size_t at = text.find('\0'); at != std::string::npos; at = text.find('\0', at)) text.replace(at, 1, "\\0");
  return text;
}

ModelError::ModelError(Class kind, std::string id, const std::string& message, std::string location)
    : std::runtime_error(without_zeros(message)), kind_(kind), id_(std::move(id)), location_(std::move(location)) {}

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
