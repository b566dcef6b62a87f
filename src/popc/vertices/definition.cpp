#include "popc/vertices/definition.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/GlobalVariable.h>

#include "codelet/store/code_lines.h"

namespace pando::popc {

void keep_definition(llvm::Module& module, const std::string& entry, const std::string& file, std::uint32_t line) {
  using namespace llvm;
  LLVMContext& c = module.getContext();
  const std::string name = entry + kDefinedSuffix;
  if (GlobalVariable* before = module.getGlobalVariable(name)) before->eraseFromParent();
  Constant* const place =
      ConstantStruct::getAnon({ConstantInt::get(Type::getInt32Ty(c), line), ConstantDataArray::getString(c, file, true)}, true);
  // A header that several units include defines it in each of them.
  new GlobalVariable(module, place->getType(), true, GlobalValue::WeakODRLinkage, place, name);
}

}  // namespace pando::popc
