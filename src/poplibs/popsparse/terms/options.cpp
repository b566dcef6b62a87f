#include "poplibs/popsparse/terms/options.h"

#include <poputil/OptionParsing.hpp>

#include <map>
#include <string>

namespace popsparse {
namespace {

using poplibs::OptionHandler;

OptionHandler partials_handler(Options& o) {
  return OptionHandler::createWithEnum(o.partials, std::map<std::string, poplar::Type>{{"float", poplar::FLOAT}, {"half", poplar::HALF}});
}

}  // namespace

Options dynamic_options(const poplar::OptionFlags& flags) {
  Options o;
  bool ignored = false;
  std::string constraints;
  const poplibs::OptionSpec spec{
      {"availableMemoryProportion", OptionHandler::createWithDouble(o.memory, 0, false)},
      {"metaInfoBucketOversizeProportion", OptionHandler::createWithDouble(o.oversize, 0, true)},
      {"partialsType", partials_handler(o)},
      {"partitioner.forceBucketSpills", OptionHandler::createWithBool(o.spills)},
      {"sharedBuckets", OptionHandler::createWithBool(ignored)},
      {"doGradAPass", OptionHandler::createWithBool(ignored)},
      {"doGradWPass", OptionHandler::createWithBool(ignored)},
      {"enableStructuredRearrangements", OptionHandler::createWithBool(ignored)},
      {"partitioner.optimiseForSpeed", OptionHandler::createWithBool(ignored)},
      {"planConstraints", OptionHandler::createWithString(constraints)},
  };
  spec.parse(flags);
  return o;
}

Options known_options(const poplar::OptionFlags& flags) {
  Options o;
  bool ignored = false;
  unsigned bands = 0;
  const poplibs::OptionSpec spec{
      {"availableMemoryProportion", OptionHandler::createWithDouble(o.memory, 0, false)},
      {"partialsType", partials_handler(o)},
      {"nSplit", OptionHandler::createWithInteger(o.width_parts)},
      {"numBands", OptionHandler::createWithInteger(bands)},
      {"verboseLogging", OptionHandler::createWithBool(ignored)},
  };
  spec.parse(flags);
  return o;
}

}  // namespace popsparse
