// The codelets one graph can use: modules loaded from .gp files, compiled from source by popc (through the cache), or linked.
#pragma once

#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/shared_bytes.h"
#include "codelet/store/codelet.h"

namespace pando {

struct Module {
  std::string name;          // for messages: the source's or file's name
  std::string content_hash;  // names the cache entry; never printed
  SharedBytes gp_bytes;      // the .gp as it stands; an executable carries it
  std::vector<CodeletId> codelets;
  ModuleGlobals globals;
  std::vector<std::string> undefined_symbols;  // resolved against other modules by Library::link
  void* handle = nullptr;                      // of the loaded shared object
};

// Sources to compile: files by name, or one text.
struct CodeletSource {
  std::vector<std::string> files;
  std::string text;  // used if `files` is empty
  bool is_c = false;
};

class Library {
 public:
  Library();
  ~Library();
  Library(Library&&) noexcept;
  Library& operator=(Library&&) noexcept;
  Library(const Library&);  // shares the loaded modules
  Library& operator=(const Library&);

  // Compiles (or finds in the cache: then no process starts) and loads. Clang's diagnostics go to `diagnostics`.
  // Throws graph_program_compilation_error with those diagnostics; file_load_error if a file cannot be read.
  ModuleId compile(const CodeletSource& source, const std::string& flags, std::ostream* diagnostics);
  // Throws graph_object_load_error if the file is no .gp of this version. A file that this process has loaded before, and that
  // has not changed since, costs next to nothing: bytes, description and (without per-tile globals) code are shared.
  ModuleId load_file(const std::string& path);
  ModuleId load_bytes(std::string gp, const std::string& name);
  // Registers codelets that are linked into the process (built-in ones, tests). Kernels must be set.
  ModuleId add_builtin(const std::string& name, std::vector<Codelet> codelets);

  // Links modules with undefined symbols against the others (popc, cached). Throws link_error: "undefined symbol X on tile n".
  // Call before running; codelet ids stay, kernels are updated.
  void link(std::string_view first_tile_of_use);

  // The same codelets, checked (popc --checked, cached): ids and fields are the same, those that are linked into the process stay as they
  // are. Call it when everything is linked. Throws no_environment if there is no popc; graph_program_compilation_error with its messages.
  Library checked() const;

  const Codelet* find(std::string_view vertex_name) const;  // normalises the name
  CodeletId id_of(std::string_view vertex_name) const;      // invalid if absent
  const Codelet& operator[](CodeletId id) const;
  const Module& module(ModuleId id) const;
  std::size_t size() const;
  std::size_t modules() const;
  // Names like `name`, best first: for messages.
  std::vector<std::string> similar(std::string_view name) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace pando
