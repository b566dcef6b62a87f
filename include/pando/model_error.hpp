// The exception of the model level. Its class says which exception of Python it is; its id is short, stable and searchable.
#pragma once

#include <stdexcept>
#include <string>

namespace pando {

class __attribute__((visibility("default"))) ModelError : public std::runtime_error {
 public:
  enum class Class {
    // popart.popart_exception: shapes or types that do not fit, ambiguous in-place updates, a program that cannot be compiled.
    popart,
    value,
    type,
    index,
    key,
    runtime,
    not_implemented,
  };

  ModelError(Class kind, std::string id, const std::string& message, std::string location);
  ~ModelError() override;

  Class kind() const { return kind_; }
  const std::string& id() const { return id_; }
  // "file:line", or empty.
  const std::string& location() const { return location_; }

 private:
  Class kind_;
  std::string id_, location_;
};

}  // namespace pando
