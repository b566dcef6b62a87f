#include "codelet/library.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <ostream>
#include <unordered_map>

#include "base/check.h"
#include "base/error.h"
#include "base/files/input_file.h"
#include "base/files/temporary.h"
#include "base/text/similar_names.h"
#include "codelet/gp_store.h"
#include "codelet/loader.h"
#include "codelet/popc/popc_process.h"
#include "codelet/popc/popc_version.h"
#include "codelet/store/cache.h"
#include "codelet/store/cpu_features.h"
#include "codelet/store/gp_file.h"

namespace pando {

namespace fs = std::filesystem;

struct Library::State {
  std::vector<Module> modules;
  std::vector<std::vector<std::string>> defined;  // per module: symbols that others can link to
  std::vector<std::shared_ptr<LoadedObject>> objects;
  SharedCodelets codelets;                                  // of files, shared with other libraries
  std::unordered_map<std::string_view, CodeletId> by_name;  // names of `codelets`

  ModuleId add_module(Module module, std::vector<std::string> symbols) {
    modules.push_back(std::move(module));
    defined.push_back(std::move(symbols));
    objects.emplace_back();
    return ModuleId(static_cast<std::uint32_t>(modules.size() - 1));
  }

  // Adds a codelet of a new module, or re-points the one that is there to it.
  void bind(const std::shared_ptr<const Codelet>& c, bool rebind) {
    const auto known = by_name.find(c->name);
    std::vector<CodeletId>& of_module = modules[c->module.index()].codelets;
    if (known == by_name.end()) {
      const CodeletId id(static_cast<std::uint32_t>(codelets.size()));
      by_name.emplace(c->name, id);
      of_module.push_back(id);
      codelets.push_back(c);
      return;
    }
    if (!rebind) {
      // Modules of an executable: one that lacked symbols comes first, the one that it was linked into later.
      const Codelet& other = *codelets[known->second.index()];
      check_same(other, *c);
      if (other.kernel != nullptr || c->kernel == nullptr) return;
    }
    of_module.push_back(known->second);
    replace(known->second, c);
  }

  void replace(CodeletId id, const std::shared_ptr<const Codelet>& c) {
    by_name.erase(codelets[id.index()]->name);
    by_name.emplace(c->name, id);
    codelets[id.index()] = c;
  }

  // The same vertex in two files (a shared header, a file added twice) is one; two different ones are an error.
  void check_same(const Codelet& known, const Codelet& other) const {
    const auto same = [](const Field& a, const Field& b) {
      return a.name == b.name && a.kind == b.kind && a.shape == b.shape && a.type == b.type && a.host_offset == b.host_offset;
    };
    if (known.host_size == other.host_size && known.kind == other.kind &&
        std::equal(known.fields.begin(), known.fields.end(), other.fields.begin(), other.fields.end(), same))
      return;
    fail(ErrorKind::graph_object_load_error, "vertex-twice", "vertex '{}' of '{}' has other fields than the one of '{}'", known.name,
         modules[other.module.index()].name, modules[known.module.index()].name);
  }

  // Enters what `d` describes, with `code`; or with the code that a stored file shares.
  ModuleId enter(const GpDescription& d, const std::string& code, SharedBytes bytes, const std::string& hash, const StoredGp* stored,
                 const std::string& name, bool rebind);
  ModuleId load(std::string bytes, const std::string& name, bool rebind);
  // Replaces a module's code by checked code.
  void check_module(ModuleId id);
};

namespace {

std::string missing_text(const std::vector<std::string>& missing) {
  std::string out;
  for (const std::string& feature : missing) out += (out.empty() ? "" : ", ") + feature;
  return out;
}

std::string write_temporary(const std::string& bytes) {
  const std::string name = temporary_file(".gp");
  std::ofstream(name, std::ios::binary) << bytes;
  return name;
}

// popc on .gp files: links them, for this processor. Through the cache.
PopcResult relink(const std::vector<const std::string*>& gps, const std::string& flags) {
  std::string call = "link\n" + popc_build() + "\n" + flags + "\n" + missing_text(host_cpu_features());
  for (const std::string* gp : gps) call += "\n" + hash_text(content_hash(*gp)) + hash_text(content_hash(*gp, 1));
  const Cache cache;
  if (auto found = cache.find(call)) return {true, "", std::move(*found)};
  std::vector<std::string> arguments = split_flags(flags), files;
  for (const std::string* gp : gps) files.push_back(write_temporary(*gp));
  arguments.insert(arguments.end(), files.begin(), files.end());
  PopcResult result = run_popc(arguments, "");
  for (const std::string& f : files) fs::remove(f);
  if (result.ok) cache.store(call, {}, result.gp);
  return result;
}

// Code for other processors is compiled again from its bitcode.
GpFile for_this_processor(GpFile gp, std::string& bytes, const std::string& name) {
  const std::vector<GpObject>& objects = gp.description.objects;
  if (objects.empty() || best_object(gp.description)) return gp;
  if (find_popc()) {
    PopcResult result = relink({&bytes}, gp.description.flags);
    if (result.ok) {
      bytes = std::move(result.gp);
      return read_gp(bytes, name);
    }
  }
  fail(ErrorKind::graph_object_load_error, "gp-processor",
       "'{}' was compiled for a processor with {}, which this one lacks, and popc is not there to compile it again", name,
       missing_text(missing_cpu_features(objects.front().cpu_features)));
}

bool is_checked(const GpDescription& d) { return d.flags.find("--checked") != std::string::npos; }

std::string call_text(const CodeletSource& source, const std::string& flags) {
  std::string call = "compile\n" + popc_build() + "\n" + flags + "\n" + (source.is_c ? "c" : "c++") + "\n" + fs::current_path().string() +
                     "\n" + missing_text(host_cpu_features());
  for (const std::string& f : source.files) call += "\n" + f;
  if (source.files.empty()) call += "\n-\n" + source.text;
  return call;
}

}  // namespace

ModuleId Library::State::load(std::string bytes, const std::string& name, bool rebind) {
  GpFile gp = for_this_processor(read_gp(bytes, name), bytes, name);
  const std::string hash = hash_text(content_hash(bytes));
  const GpObject* const best = best_object(gp.description);
  return enter(gp.description, best ? best->code : "", std::move(bytes), hash, nullptr, name, rebind);
}

ModuleId Library::State::enter(const GpDescription& d, const std::string& code, SharedBytes bytes, const std::string& hash,
                               const StoredGp* stored, const std::string& name, bool rebind) {
  Module m;
  m.name = name;
  m.content_hash = hash;
  m.gp_bytes = std::move(bytes);
  m.globals.size = d.globals_size;
  m.globals.align = d.globals_align;
  m.undefined_symbols = d.undefined;
  if (d.objects.empty() && m.undefined_symbols.empty())
    fail(ErrorKind::graph_object_load_error, "gp-bitcode",
         "'{}' cannot be loaded: it was compiled with -c and holds no code; link it with popc", name);
  // Load before anything is entered: a module that cannot be loaded leaves no trace.
  const ModuleId id(static_cast<std::uint32_t>(modules.size()));
  std::shared_ptr<LoadedObject> object = stored ? stored->object : nullptr;
  const bool shares = object != nullptr;
  if (!shares && m.undefined_symbols.empty()) object = std::make_shared<LoadedObject>(code, d.libraries, name, id);
  const SharedCodelets entered = shares ? stored->codelets_of(id, name) : shared_codelets(d.codelets, id, object.get(), name);
  if (object) m.handle = object->handle();
  if (object && m.globals.size > 0) {
    m.globals.initialise = reinterpret_cast<void (*)(char*)>(object->find(kInitialiseGlobalsSymbol));
    if (!m.globals.initialise)
      fail(ErrorKind::graph_object_load_error, "gp-load", "'{}' cannot be loaded: it lacks '{}'", name, kInitialiseGlobalsSymbol);
  }
  add_module(std::move(m), d.defined);
  objects.back() = std::move(object);
  for (const std::shared_ptr<const Codelet>& c : entered) bind(c, rebind);
  return id;
}

Library::Library() : state_(std::make_shared<State>()) {}
Library::~Library() = default;
Library::Library(Library&&) noexcept = default;
Library& Library::operator=(Library&&) noexcept = default;
Library::Library(const Library&) = default;
Library& Library::operator=(const Library&) = default;

ModuleId Library::compile(const CodeletSource& source, const std::string& flags, std::ostream* diagnostics) {
  for (const std::string& f : source.files)
    if (const std::string why = why_unreadable(f, kMostTextBytes); !why.empty())
      fail(ErrorKind::file_load_error, "codelet-file", "cannot read the codelet file '{}': {}", f, why);
  const std::string name = source.files.empty() ? "<codelet text>" : source.files.front();
  const std::string call = call_text(source, flags);
  const Cache cache;
  if (auto found = cache.find(call)) return state_->load(std::move(*found), name, false);

  std::vector<std::string> arguments = split_flags(flags);
  if (source.files.empty()) {
    if (source.is_c) arguments.insert(arguments.end(), {"-x", "c"});
    arguments.push_back("-");
  }
  arguments.insert(arguments.end(), source.files.begin(), source.files.end());
  PopcResult result = run_popc(arguments, source.text);
  if (diagnostics) *diagnostics << result.messages;
  if (!result.ok) fail(ErrorKind::graph_program_compilation_error, "codelet-compile", "compiling '{}' failed:\n{}", name, result.messages);
  cache.store(call, read_gp(result.gp, name).description.dependencies, result.gp);
  return state_->load(std::move(result.gp), name, false);
}

ModuleId Library::load_file(const std::string& path) {
  if (const std::string why = why_unreadable(path, kMostTextBytes); !why.empty())
    fail(ErrorKind::file_load_error, "codelet-file", "cannot read the codelet object file '{}': {}", path, why);
  const std::shared_ptr<const StoredGp> stored =
      stored_gp(path, [&](std::string& bytes) { return for_this_processor(read_gp(bytes, path), bytes, path); });
  if (!stored) fail(ErrorKind::file_load_error, "codelet-file", "cannot read the codelet object file '{}'", path);
  return state_->enter(stored->gp.description, stored->code, stored->bytes, stored->hash, stored.get(), path, false);
}

ModuleId Library::load_bytes(std::string gp, const std::string& name) { return state_->load(std::move(gp), name, false); }

ModuleId Library::add_builtin(const std::string& name, std::vector<Codelet> codelets) {
  Module m;
  m.name = name;
  const ModuleId id = state_->add_module(std::move(m), {});
  for (const Codelet& c : codelets) PANDO_CHECK(c.kernel != nullptr);
  for (const std::shared_ptr<const Codelet>& c : shared_codelets(codelets, id, nullptr, name)) state_->bind(c, false);
  return id;
}

void Library::link(std::string_view first_tile_of_use) {
  const std::vector<Module>& modules = state_->modules;
  // The modules to link: those that lack symbols, those that have them, and so on. A module that was linked already no
  // longer owns any codelet that lacks a kernel.
  std::vector<std::size_t> chosen;
  const auto choose = [&](std::size_t m) {
    if (std::find(chosen.begin(), chosen.end(), m) == chosen.end()) chosen.push_back(m);
  };
  for (const std::shared_ptr<const Codelet>& c : state_->codelets)
    if (c->kernel == nullptr) choose(c->module.index());
  if (chosen.empty()) return;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    for (const std::string& symbol : modules[chosen[i]].undefined_symbols) {
      std::size_t owner = 0;
      const auto has = [&](std::size_t m) { return std::binary_search(state_->defined[m].begin(), state_->defined[m].end(), symbol); };
      while (owner < modules.size() && !has(owner)) ++owner;
      if (owner == modules.size())
        fail(ErrorKind::link_error, "undefined-symbol", "undefined symbol {} on tile {} (used by '{}')", symbol, first_tile_of_use,
             modules[chosen[i]].name);
      choose(owner);
    }
  }
  std::sort(chosen.begin(), chosen.end());
  std::vector<const std::string*> gps;
  std::string name = "linked:";
  for (const std::size_t m : chosen) {
    gps.push_back(&modules[m].gp_bytes.get());
    name += " " + modules[m].name;
  }
  const bool checked =
      std::any_of(gps.begin(), gps.end(), [&](const std::string* gp) { return is_checked(read_gp(*gp, name).description); });
  PopcResult result = relink(gps, checked ? "-O3 --checked" : "-O3");
  if (!result.ok) fail(ErrorKind::link_error, "codelet-link", "{} failed:\n{}", name, result.messages);
  state_->load(std::move(result.gp), name, true);
}

void Library::State::check_module(ModuleId id) {
  Module& m = modules[id.index()];
  // Built in, or part of what it was linked into.
  if (m.gp_bytes.get().empty() || m.handle == nullptr) return;
  const GpDescription old = read_gp(m.gp_bytes.get(), m.name).description;
  if (is_checked(old)) return;
  const bool counts = std::any_of(old.codelets.begin(), old.codelets.end(),
                                  [](const Codelet& c) { return c.counting != CountedBy::nothing || !c.uncounted.empty(); });
  PopcResult result = relink({&m.gp_bytes.get()}, old.flags + " --checked" + (counts ? "" : " -fno-count"));
  if (!result.ok)
    fail(ErrorKind::graph_program_compilation_error, "codelet-compile", "compiling '{}' with checks failed:\n{}", m.name, result.messages);
  const GpFile gp = read_gp(result.gp, m.name);
  const GpObject* const best = best_object(gp.description);
  objects[id.index()] = std::make_shared<LoadedObject>(best ? best->code : "", gp.description.libraries, m.name, id);
  const LoadedObject& object = *objects[id.index()];
  m.content_hash = hash_text(content_hash(result.gp));
  m.gp_bytes = std::move(result.gp);
  m.handle = object.handle();
  if (m.globals.size > 0) m.globals.initialise = reinterpret_cast<void (*)(char*)>(object.find(kInitialiseGlobalsSymbol));
  for (std::size_t i = 0; i < codelets.size(); ++i) {
    if (codelets[i]->module != id) continue;
    const auto c = std::make_shared<Codelet>(*codelets[i]);
    object.set_code(*c, m.name);
    c->strided = nullptr;
    replace(CodeletId(static_cast<std::uint32_t>(i)), c);
  }
}

Library Library::checked() const {
  Library out;
  *out.state_ = *state_;
  for (std::size_t i = 0; i < out.modules(); ++i) out.state_->check_module(ModuleId(static_cast<std::uint32_t>(i)));
  return out;
}

const Codelet* Library::find(std::string_view vertex_name) const {
  const CodeletId id = id_of(vertex_name);
  return id.valid() ? state_->codelets[id.index()].get() : nullptr;
}

CodeletId Library::id_of(std::string_view vertex_name) const {
  auto at = state_->by_name.find(vertex_name);  // mostly it is spelled as it is kept
  if (at == state_->by_name.end()) at = state_->by_name.find(normalised_vertex_name(vertex_name));
  return at == state_->by_name.end() ? CodeletId() : at->second;
}

const Codelet& Library::operator[](CodeletId id) const {
  PANDO_CHECK(id.index() < state_->codelets.size());
  return *state_->codelets[id.index()];
}

const Module& Library::module(ModuleId id) const {
  PANDO_CHECK(id.index() < state_->modules.size());
  return state_->modules[id.index()];
}

std::size_t Library::size() const { return state_->codelets.size(); }
std::size_t Library::modules() const { return state_->modules.size(); }

std::vector<std::string> Library::similar(std::string_view name) const {
  std::vector<std::string> names;
  for (const std::shared_ptr<const Codelet>& c : state_->codelets) names.push_back(c->name);
  return similar_names(normalised_vertex_name(name), names);
}

}  // namespace pando
