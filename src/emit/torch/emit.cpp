#include "emit/emit.h"

#include "base/error.h"
#include "base/files/output_file.h"
#include "emit/torch/assemble.h"
#include "emit/torch/device_lister.h"
#include "emit/torch/placed.h"
#include "emit/torch/projected_writer.h"
#include "emit/torch/reference.h"
#include "ir/error.h"
#include "project/checks/check.h"

#include <filesystem>
#include <map>
#include <system_error>

namespace pando::emit {

Emitted torch_program(const ir::Module& module, const Options& options) {
  Emitted out;
  Placed placed = place(module);
  KeyTables tables;
  share_outputs(placed, tables);
  std::vector<std::int32_t> devices;
  for (const auto& [d, steps] : placed.devices) devices.push_back(d);
  std::vector<ProgramText> programs;
  const std::vector<Rank> ranks = ranks_of(
      placed.module.types(), devices,
      [&](std::int32_t d, bool as_key) { return as_key ? list_device(placed, d, true, tables) : write_device(placed, d); }, programs);
  add_layout(placed.module.types(), ranks, options, out);
  add_programs(placed.module.types(), programs, ranks, out);
  add_support(programs, ranks.size(), out);
  add_reference(module, options, out);
  return out;
}

Emitted torch_program(const project::ProjectedProgram& program, const Options& options) {
  if (options.samples < 1) ir::reject(ir::ErrorClass::value, "samples", "a projected program: say how many --samples a step takes");
  if (const auto found = project::verify(program); !found.empty())
    ir::reject(ir::ErrorClass::value, "projected-program", "{}", project::to_string(found));
  if (program.policy.windowed() && options.samples % program.policy.window != 0)
    ir::reject(ir::ErrorClass::value, "samples-of-windows", "{} samples; windows have {}", options.samples, program.policy.window);
  check_torch_ops(*program.module);
  Emitted out;
  std::vector<std::int32_t> devices;
  std::map<std::int32_t, std::size_t> numbers;
  for (std::size_t d = 0; d < program.devices.size(); ++d) {
    devices.push_back(program.devices[d].device);
    numbers[devices.back()] = d;
  }
  std::vector<ProgramText> programs;
  const ir::TypeTable& types = program.module->types();
  const std::vector<Rank> ranks = ranks_of(
      types, devices, [&](std::int32_t d, bool canonical) { return write_projected(program, numbers.at(d), options.samples, canonical); },
      programs);
  add_layout(types, ranks, options, out);
  add_programs(types, programs, ranks, out);
  add_support(programs, ranks.size(), out);
  add_reference(program, options, out);
  return out;
}

void write_folder(const std::string& folder, const Emitted& emitted) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) fail(ErrorKind::poplar_error, "unwritable-folder", "cannot make the folder {}: {}", folder, error.message());
  for (const File& f : emitted.files) {
    const std::filesystem::path path = std::filesystem::path(folder) / f.name;
    if (const std::string why = write_output_file(path, f.bytes); !why.empty())
      fail(ErrorKind::poplar_error, "unwritable-file", "cannot write {}: {}", path.string(), why);
    if (f.executable) std::filesystem::permissions(path, std::filesystem::perms::owner_exec, std::filesystem::perm_options::add, error);
  }
}

}  // namespace pando::emit
