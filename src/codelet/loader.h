// Loads the shared object of a .gp into the process.
#pragma once

#include <string>
#include <vector>

#include "codelet/store/codelet.h"

namespace pando {

// A loaded object, closed when the last owner goes.
class LoadedObject {
 public:
  // Loads the `libraries` that the object calls first: those beside the library that holds this code, or where the dynamic
  // linker finds them. They stay loaded. Throws graph_object_load_error with the dynamic linker's message. Sets the object's
  // runtime table and module slot.
  LoadedObject(const std::string& object, const std::vector<std::string>& libraries, const std::string& name, ModuleId slot);
  ~LoadedObject();
  LoadedObject(const LoadedObject&) = delete;
  LoadedObject& operator=(const LoadedObject&) = delete;

  void* handle() const { return handle_; }
  void* find(const char* symbol) const;  // null if absent
  // Sets the functions of a codelet whose code this is. Throws graph_object_load_error, which names the file `name`, if it lacks one.
  void set_code(Codelet& c, const std::string& name) const;

 private:
  void* handle_ = nullptr;
  std::string file_;  // that a debugger reads; empty: none does
};

}  // namespace pando
