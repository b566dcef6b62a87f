// The .gp file: what popc writes and the library loads.
//
//   +---------+---------+-----------+---------------+--------------+----------+----------------+---------+---------------+
//   | "PANDO" | version | desc size | bitcode size  | object size  | checksum | description    | bitcode | shared object |
//   | "GP\n"  | u32 u32 |    u64    |      u64      |     u64      |    u64   | (archive)      |         | per processor |
//   +---------+---------+-----------+---------------+--------------+----------+----------------+---------+---------------+
//
// The bitcode is the program before globals are moved and code is optimised: what linking with other files starts from. Of the shared
// objects there is one; several, worst first, if the file was made for several kinds of processors; none if it lacks symbols.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "codelet/store/codelet.h"

namespace pando {

// A file that the compiler read, and what was in it.
struct Dependency {
  std::string path;        // absolute
  std::uint64_t hash = 0;  // content_hash
};

// Code of a module for one kind of processor.
struct GpObject {
  std::string level;                      // of processor_levels(); empty: the processor of popc's host, or what -march said
  std::vector<std::string> cpu_features;  // the host must have these to run it
  std::uint64_t size = 0;                 // of its code; write_gp sets it

  std::string code;  // the shared object; not of the description
};

// What the description says about one module.
struct GpDescription {
  std::vector<Codelet> codelets;  // without module and kernel
  std::uint64_t globals_size = 0;
  std::uint32_t globals_align = 1;
  std::vector<std::string> defined;      // external functions and variables of the sources, sorted
  std::vector<std::string> undefined;    // used, and in no system library, sorted
  std::vector<std::string> libraries;    // file names of shared libraries that the code calls, in the order to load them
  std::vector<GpObject> objects;         // worst first
  std::vector<Dependency> dependencies;  // in order of first use
  std::string target;                    // that the sources saw: "cpu", or an IPU's name
  std::string flags;                     // optimisation flags, for recompiling the bitcode
  std::string build;                     // popc_build() of the writer
};

struct GpFile {
  GpDescription description;
  std::string bitcode;
};

// The best of the objects that the host runs and PANDO_VECTORS allows, or null.
const GpObject* best_object(const GpDescription& description);

// Symbols of the shared object.
inline constexpr const char* kRuntimeSymbol = "pando_runtime";
inline constexpr const char* kModuleSlotSymbol = "pando_module_slot";
inline constexpr const char* kInitialiseGlobalsSymbol = "pando_initialise_globals";
inline constexpr const char* kEntryPrefix = "pando_kernel:";

std::string write_gp(const GpFile& file);
// Throws graph_object_load_error, naming `name`: not a .gp, another version, cut off, checksum wrong, description malformed.
GpFile read_gp(std::string_view bytes, const std::string& name);

// Whether the bytes begin as a .gp does, whatever their file's name; and whether a file does. A file that cannot be read does not.
bool is_gp(std::string_view bytes);
bool is_gp_file(const std::string& path);

// The description as text: one line per codelet and per field. What `popc --describe` prints.
std::string describe(const GpDescription& description);

// FNV-1a over 8-byte words, then bytes: fast enough to hash every header of a source on each start.
std::uint64_t content_hash(std::string_view bytes, std::uint64_t seed = 0);
std::string hash_text(std::uint64_t hash);  // 16 hex digits

}  // namespace pando
