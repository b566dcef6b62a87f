#include "popops/Operation.hpp"
#include "kernels/rows/reduce.h"
#include "poplibs/poputil/reject.h"

#include <poputil/exceptions.hpp>

#include <istream>
#include <ostream>
#include <string>

namespace popops {

#define PANDO_ROW(NAME, name, ...) static_assert(static_cast<unsigned>(Operation::NAME) == static_cast<unsigned>(PandoReduceOp::name));
PANDO_REDUCE_ROWS(PANDO_ROW)
#undef PANDO_ROW

namespace {

#define PANDO_ROW(NAME, ...) #NAME,
constexpr const char* kNames[] = {PANDO_REDUCE_ROWS(PANDO_ROW)};
#undef PANDO_ROW

}  // namespace

std::istream& operator>>(std::istream& is, Operation& op) {
  std::string word;
  is >> word;
  for (unsigned i = 0; i < std::size(kNames); ++i)
    if (word == kNames[i]) {
      op = static_cast<Operation>(i);
      return is;
    }
  poputil::reject("no-such-operation", "{}", "'" + word + "' is not the name of a popops::Operation");
}

std::ostream& operator<<(std::ostream& os, const Operation& op) {
  const unsigned index = static_cast<unsigned>(op);
  if (index >= std::size(kNames))
    poputil::reject("no-such-operation", "{}", "there is no popops::Operation number " + std::to_string(index));
  return os << kNames[index];
}

}  // namespace popops
