#include "machine/worker/instructions.h"

#include <algorithm>
#include <vector>

namespace pando {

namespace {

constexpr std::string_view kPublished = "published estimators of the op libraries";
constexpr std::string_view kFitted = "fitted: pi by quadrature, 90 cycles a step; published estimators say 1 or 3";
constexpr std::string_view kLikeLn = "unknown: assumed as f32ln";

constexpr Pipe kMain = Pipe::main, kAux = Pipe::aux;

std::vector<WorkerInstruction> make_rows() {
  std::vector<WorkerInstruction> rows;
  for (const std::string_view name :
       {"ld32",   "ld64", "ldz8",  "ldz16",      "lds8",       "lds16",  "ldb16",     "st32",      "st64",    "add",    "sub",    "mul",
        "and",    "or",   "xor",   "andc",       "shl",        "shr",    "shrs",      "cmpeq",     "cmpne",   "cmpslt", "cmpult", "movz",
        "movnz",  "mov",  "setzi", "min",        "max",        "abs",    "clz",       "popc",      "bitrev8", "atom",   "get",    "put",
        "tapack", "rpt",  "nop",   "sort4x16lo", "sort4x16hi", "roll16", "shuf8x8lo", "shuf8x8hi", "swap16"})
    rows.push_back({name, kMain, 1, false, ""});
  for (const std::string_view name : {"bri", "br", "brz", "brnz", "brneg", "brpos", "brnzdec", "call", "exitnz", "exitz"})
    rows.push_back({name, kMain, 1, true, ""});
  for (const std::string_view name :
       {"f32add",     "f32sub",     "f32mul",     "f32max",     "f32min",      "f32absadd",   "f32absmax",   "f32clamp",  "f32cmp",
        "f32int",     "f32toi32",   "f32toui32",  "f32fromi32", "f32fromui32", "f32tof16",    "f16tof32",    "f32class",  "f32mac",
        "f32v2add",   "f32v2sub",   "f32v2mul",   "f32v2max",   "f32v2min",    "f32v2absadd", "f32v2cmp",    "f32v2axpy", "f32v2gina",
        "f32v2tof16", "f16v2tof32", "f32v4tof16", "f16v2add",   "f16v2sub",    "f16v2mul",    "f16v2max",    "f16v2min",  "f16v2absadd",
        "f16v2cmp",   "f16v4add",   "f16v4sub",   "f16v4mul",   "f16v4max",    "f16v4min",    "f16v4absadd", "f16v4cmp",  "f16v2tanh",
        "a.and",      "a.andc",     "a.or",       "a.not",      "a.mov",       "a.roll",      "a.sort",      "fnop",      "uput",
        "uget",       "urand32",    "urand64",    "f32v2grand", "f16v2grand"})
    rows.push_back({name, kAux, 1, false, ""});
  const auto longer = [&](std::string_view name, unsigned slots, std::string_view source) {
    rows.push_back({name, kAux, slots, false, source});
  };
  longer("f32div", 5, kFitted);
  longer("f32sqrt", 5, kPublished);
  longer("f32oorx", 4, kPublished);
  longer("f32oox", 3, kPublished);
  longer("f32exp", 3, kPublished);
  longer("f32exp2", 3, kPublished);
  longer("f32ln", 6, kPublished);
  longer("f32log2", 6, kLikeLn);
  longer("f32tanh", 5, kPublished);
  longer("f32sigm", 5, kPublished);
  for (const std::string_view name : {"f16v2exp", "f16v2exp2", "f16v2ln", "f16v2sigm"}) longer(name, 2, kPublished);
  longer("f16v2log2", 2, kLikeLn);
  std::sort(rows.begin(), rows.end(), [](const WorkerInstruction& a, const WorkerInstruction& b) { return a.name < b.name; });
  return rows;
}

const std::vector<WorkerInstruction>& rows() {
  static const std::vector<WorkerInstruction> all = make_rows();
  return all;
}

}  // namespace

std::span<const WorkerInstruction> worker_instructions() { return rows(); }

const WorkerInstruction* find_worker_instruction(std::string_view name) {
  const auto at =
      std::lower_bound(rows().begin(), rows().end(), name, [](const WorkerInstruction& r, std::string_view n) { return r.name < n; });
  return at != rows().end() && at->name == name ? &*at : nullptr;
}

}  // namespace pando
