#include "lower/target/libraries.h"

#include <poplin/codelets.hpp>
#include <popnn/codelets.hpp>
#include <popops/codelets.hpp>
#include <poprand/codelets.hpp>

namespace pando::lower {

void Libraries::need(Library library) {
  if (!libraries_.insert(library).second) return;
  switch (library) {
    case Library::popops: popops::addCodelets(graph_); break;
    case Library::poplin:
      need(Library::popops);
      poplin::addCodelets(graph_);
      break;
    case Library::popnn:
      need(Library::poplin);
      popnn::addCodelets(graph_);
      break;
    case Library::poprand: poprand::addCodelets(graph_); break;
    case Library::own: break;
  }
}

}  // namespace pando::lower
