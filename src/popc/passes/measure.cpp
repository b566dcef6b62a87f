#include "popc/passes/measure.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/Object/ELFObjectFile.h>
#include <llvm/Support/LEB128.h>

#include <algorithm>
#include <functional>
#include <map>

#include "codelet/store/gp_file.h"
#include "popc/passes/reach.h"

namespace pando::popc {

namespace {

using namespace llvm;

struct Size {
  std::uint64_t code = 0;
  std::uint64_t frame = 0;
};

// Position of a function in the object: its section and offset there.
using Position = std::pair<std::uint64_t, std::uint64_t>;

// .stack_sizes: for each function, its address (a relocation) and the bytes of its frame (ULEB128).
void read_frames(const object::SectionRef& relocations, const object::SectionRef& section, const std::map<Position, std::string>& functions,
                 std::map<std::string, Size>& out) {
  Expected<StringRef> bytes = section.getContents();
  if (!bytes) return consumeError(bytes.takeError());
  for (const object::RelocationRef& relocation : relocations.relocations()) {
    const auto symbol = relocation.getSymbol();
    const object::ELFRelocationRef elf(relocation);
    Expected<std::int64_t> addend = elf.getAddend();
    if (!addend) return consumeError(addend.takeError());
    Expected<object::section_iterator> target = symbol->getSection();
    Expected<std::uint64_t> value = symbol->getValue();
    if (!target || !value) return consumeError(joinErrors(target.takeError(), value.takeError()));
    const auto function = functions.find({(*target)->getIndex(), *value + static_cast<std::uint64_t>(*addend)});
    if (function == functions.end() || relocation.getOffset() + 8 >= bytes->size()) continue;
    const auto* at = bytes->bytes_begin() + relocation.getOffset() + 8;
    out[function->second].frame = decodeULEB128(at, nullptr, bytes->bytes_end());
  }
}

std::map<std::string, Size> read_sizes(const std::string& bytes) {
  std::map<std::string, Size> out;
  auto file = object::ObjectFile::createELFObjectFile(MemoryBufferRef(bytes, "object"));
  if (!file) {
    consumeError(file.takeError());
    return out;
  }
  std::map<Position, std::string> functions;
  for (const object::ELFSymbolRef symbol : cast<object::ELFObjectFileBase>(**file).symbols()) {
    if (symbol.getELFType() != ELF::STT_FUNC) continue;
    Expected<StringRef> name = symbol.getName();
    Expected<object::section_iterator> section = symbol.getSection();
    Expected<std::uint64_t> value = symbol.getValue();
    if (!name || !section || !value || *section == (*file)->section_end()) {
      consumeError(joinErrors(joinErrors(name.takeError(), section.takeError()), value.takeError()));
      continue;
    }
    out[name->str()].code = symbol.getSize();
    functions[{(*section)->getIndex(), *value}] = name->str();
  }
  for (const object::SectionRef& relocations : (*file)->sections()) {
    Expected<object::section_iterator> section = relocations.getRelocatedSection();
    if (!section || *section == (*file)->section_end()) {
      consumeError(section.takeError());
      continue;
    }
    Expected<StringRef> name = (*section)->getName();
    if (!name)
      consumeError(name.takeError());
    else if (*name == ".stack_sizes")
      read_frames(relocations, **section, functions, out);
  }
  return out;
}

}  // namespace

void mark_tile_users(const Module& module, std::vector<Codelet>& codelets) {
  const GlobalValue* runtime = module.getNamedValue(kRuntimeSymbol);
  for (Codelet& c : codelets) {
    const auto found = reachable(*module.getFunction(c.entry));
    c.uses_tile = c.reserved.size > 0 || !c.shared_ranges.empty() || !c.reserved.image.empty() ||
                  std::find(found.begin(), found.end(), runtime) != found.end();
  }
}

CodeSizes::CodeSizes(const Module& module, const std::vector<Codelet>& codelets) {
  llvm::DenseMap<const GlobalValue*, unsigned> index;
  const auto node = [&](const Function& f) {
    const auto [at, added] = index.try_emplace(&f, static_cast<unsigned>(nodes_.size()));
    if (added) nodes_.push_back({f.getName().str(), {}});
    return at->second;
  };
  for (const Codelet& c : codelets) roots_.push_back(node(*module.getFunction(c.entry)));
  std::vector<const Function*> pending;
  for (const Codelet& c : codelets) pending.push_back(module.getFunction(c.entry));
  for (std::size_t i = 0; i < pending.size(); ++i) {
    const unsigned from = node(*pending[i]);
    for (const GlobalValue* g : referenced(*pending[i])) {
      const auto* callee = dyn_cast<Function>(g);
      if (!callee || callee->isDeclaration()) continue;
      if (!index.contains(callee)) pending.push_back(callee);
      const unsigned to = node(*callee);  // may move nodes_
      nodes_[from].callees.push_back(to);
    }
  }
}

void CodeSizes::measure(const std::string& object, std::vector<Codelet>& codelets) const {
  const std::map<std::string, Size> sizes = read_sizes(object);
  std::vector<Size> own(nodes_.size());
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    if (const auto at = sizes.find(nodes_[i].name); at != sizes.end()) own[i] = at->second;

  enum class State : char { fresh, open, done };
  std::vector<State> state(nodes_.size(), State::fresh);
  std::vector<std::uint64_t> depth(nodes_.size(), 0);
  const std::function<std::uint64_t(unsigned)> stack = [&](unsigned n) -> std::uint64_t {
    if (state[n] == State::open) return 0;
    if (state[n] == State::done) return depth[n];
    state[n] = State::open;
    std::uint64_t deepest = 0;
    for (const unsigned callee : nodes_[n].callees) deepest = std::max(deepest, stack(callee));
    state[n] = State::done;
    return depth[n] = own[n].frame + deepest;
  };

  for (std::size_t c = 0; c < codelets.size(); ++c) {
    std::vector<char> seen(nodes_.size(), 0);
    std::vector<unsigned> pending = {roots_[c]};
    seen[roots_[c]] = 1;
    std::uint64_t code = 0;
    for (std::size_t i = 0; i < pending.size(); ++i) {
      code += own[pending[i]].code;
      for (const unsigned callee : nodes_[pending[i]].callees)
        if (!std::exchange(seen[callee], 1)) pending.push_back(callee);
    }
    if (!codelets[c].code_declared) codelets[c].code_bytes = static_cast<std::uint32_t>(code);
    codelets[c].stack_bytes = codelets[c].in_assembly ? 0 : static_cast<std::uint32_t>(stack(roots_[c]));
  }
}

}  // namespace pando::popc
