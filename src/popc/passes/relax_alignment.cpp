#include "popc/passes/relax_alignment.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

namespace pando::popc {

namespace {

using namespace llvm;

const Align kPromised(8);

AttributeList relaxed(LLVMContext& context, AttributeList attributes, unsigned parameters) {
  for (unsigned i = 0; i < parameters; ++i) {
    const MaybeAlign align = attributes.getParamAlignment(i);
    if (!align || *align <= kPromised || attributes.hasParamAttr(i, Attribute::ByVal) || attributes.hasParamAttr(i, Attribute::StructRet))
      continue;
    attributes = attributes.removeParamAttribute(context, i, Attribute::Alignment)
                     .addParamAttribute(context, i, Attribute::getWithAlignment(context, kPromised));
  }
  return attributes;
}

void relax(Instruction& i) {
  if (auto* load = dyn_cast<LoadInst>(&i)) {
    if (load->getAlign() > kPromised && !load->isAtomic()) load->setAlignment(kPromised);
  } else if (auto* store = dyn_cast<StoreInst>(&i)) {
    if (store->getAlign() > kPromised && !store->isAtomic()) store->setAlignment(kPromised);
  } else if (auto* call = dyn_cast<CallBase>(&i)) {
    call->setAttributes(relaxed(i.getContext(), call->getAttributes(), call->arg_size()));
  }
}

}  // namespace

void relax_alignment(Module& module) {
  for (Function& f : module) {
    f.setAttributes(relaxed(module.getContext(), f.getAttributes(), static_cast<unsigned>(f.arg_size())));
    for (Instruction& i : instructions(f)) relax(i);
  }
}

}  // namespace pando::popc
