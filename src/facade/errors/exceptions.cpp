#include "poplar/exceptions.hpp"

namespace poplar {

std::string toString(RecoveryAction action) {
  switch (action) {
    case RecoveryAction::IPU_RESET: return "IPU_RESET";
    case RecoveryAction::LINK_RESET: return "LINK_RESET";
    case RecoveryAction::PARTITION_RESET: return "PARTITION_RESET";
    case RecoveryAction::FULL_RESET: return "FULL_RESET";
  }
  return "unknown";
}

std::ostream& operator<<(std::ostream& out, RecoveryAction action) { return out << toString(action); }

}  // namespace poplar
