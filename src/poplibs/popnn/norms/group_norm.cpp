#include <poplin/Norms.hpp>
#include <popnn/GroupNorm.hpp>
#include <poputil/OptionParsing.hpp>

#include "poplibs/popnn/norms/norm_rows.h"
#include "poplibs/popnn/norms/param_update.h"
#include "poplibs/poputil/reject.h"

namespace popnn {
namespace gn {

using namespace poplar;
using poputil::poplibs_error;
using program::Sequence;
using Pair = std::pair<Tensor, Tensor>;

namespace {

// Which channels make a group.
bool is_strided(const OptionFlags& options) {
  bool strided = true;
  const poplibs::OptionSpec spec{{"groupNormStridedChannelGrouping", poplibs::OptionHandler::createWithBool(strided)}};
  for (const auto& entry : options) spec.parse(entry.first, entry.second);
  return strided;
}

// Activations as a batch norm's: {channels of a group, batch * groups, field}, so that its channels are the groups of batch elements.
class Grouping {
 public:
  Grouping(const Tensor& acts, std::size_t groups, const OptionFlags& options, const std::string& function)
      : shape_(acts.shape()), groups_(groups), strided_(is_strided(options)) {
    if (shape_.size() < 2)
      poputil::reject("activations-shape", "{}",
                      function + ": the activations have shape " + acts.shapeToString() + ", expected {batch, channels, ...}");
    if (groups == 0 || shape_[1] % groups != 0)
      poputil::reject(
          "group-count", "{}",
          function + ": " + std::to_string(shape_[1]) + " channels cannot be cut into " + std::to_string(groups) + " equal groups");
  }
  Tensor apply(const Tensor& t) const {
    const std::size_t batch = shape_[0], members = shape_[1] / groups_;
    const Tensor flat = t.reshape({batch, shape_[1], field()});
    const Tensor ordered = strided_ ? flat.reshape({batch, members, groups_, field()}).dimShuffle({1, 0, 2, 3})
                                    : flat.reshape({batch, groups_, members, field()}).dimShuffle({2, 0, 1, 3});
    return ordered.reshape({members, batch * groups_, field()});
  }
  Tensor undo(const Tensor& t) const {
    const std::size_t batch = shape_[0], members = shape_[1] / groups_;
    const Tensor split = t.reshape({members, batch, groups_, field()});
    return (strided_ ? split.dimShuffle({1, 0, 2, 3}) : split.dimShuffle({1, 2, 0, 3})).reshape(shape_);
  }

 private:
  std::size_t field() const {
    std::size_t n = 1;
    for (std::size_t i = 2; i < shape_.size(); ++i) n *= shape_[i];
    return n;
  }
  std::vector<std::size_t> shape_;
  std::size_t groups_;
  bool strided_;
};

// The groups that statistics are of.
std::size_t groups_of(const Tensor& acts, const Tensor& statistics, const std::string& function) {
  const std::size_t batch = acts.rank() > 0 ? acts.dim(0) : 0;
  if (batch == 0 || statistics.rank() != 1 || statistics.numElements() % batch != 0)
    poputil::reject("statistics-shape", "{}",
                    function + ": statistics of shape " + statistics.shapeToString() + " are not those of groups of activations of shape " +
                        acts.shapeToString());
  return statistics.numElements() / batch;
}

}  // namespace

Pair groupNormStatistics(Graph& graph, const Tensor acts, float eps, Sequence& prog, unsigned numGroups, bool unbiasedVarEstimate,
                         bool stableAlgo, const Type& partialsType, const DebugContext& debug, const OptionFlags& options) {
  const Grouping grouping(acts, numGroups, options, "popnn::gn::groupNormStatistics");
  return poplin::normStatistics(graph, grouping.apply(acts), eps, prog, unbiasedVarEstimate, stableAlgo, partialsType,
                                {debug, "GroupNorm"});
}

Tensor groupNormWhiten(Graph& graph, const Tensor& acts, const Tensor& mean, const Tensor& invStdDev, Sequence& prog,
                       const DebugContext& debug, const OptionFlags& options) {
  const std::string function = "popnn::gn::groupNormWhiten";
  const Grouping grouping(acts, groups_of(acts, mean, function), options, function);
  return grouping.undo(poplin::normWhiten(graph, grouping.apply(acts), mean, invStdDev, prog, {debug, "GroupNorm"}));
}

Pair groupNormalise(Graph& graph, const Tensor& acts, const Tensor& gamma, const Tensor& beta, const Tensor& mean, const Tensor& invStdDev,
                    Sequence& prog, const DebugContext& debug, const OptionFlags& options) {
  const Tensor whitened = groupNormWhiten(graph, acts, mean, invStdDev, prog, debug, options);
  return {poplin::normalise(graph, whitened, gamma, beta, prog, {debug, "GroupNorm"}), whitened};
}

Pair groupNormParamGradients(Graph& graph, const Tensor& acts, const Tensor& gradsIn, const Tensor& mean, const Tensor& iStdDev,
                             Sequence& prog, const Type& partialsType, const DebugContext& debug, const OptionFlags& options) {
  const Tensor whitened = groupNormWhiten(graph, acts, mean, iStdDev, prog, debug, options);
  return groupNormParamGradients(graph, whitened, gradsIn, prog, partialsType, debug, options);
}

Pair groupNormParamGradients(Graph& graph, const Tensor& actsWhitened, const Tensor& gradsIn, Sequence& prog, const Type& partialsType,
                             const DebugContext& debug, const OptionFlags& options) {
  is_strided(options);  // parameters are of channels, whatever their groups; the options are checked all the same
  return poplin::normParamGradients(graph, actsWhitened, gradsIn, prog, partialsType, {debug, "GroupNorm"});
}

Tensor groupNormGradients(Graph& graph, const Tensor& acts, const Tensor& gradsIn, const Tensor& mean, const Tensor& invStdDev,
                          const Tensor& gamma, Sequence& prog, const Type& partialsType, const DebugContext& debug,
                          const OptionFlags& options) {
  const Tensor whitened = groupNormWhiten(graph, acts, mean, invStdDev, prog, debug, options);
  return groupNormGradients(graph, whitened, gradsIn, invStdDev, gamma, prog, partialsType, debug, options);
}

Tensor groupNormGradients(Graph& graph, const Tensor& actsWhitened, const Tensor& gradsIn, const Tensor& invStdDev, const Tensor& gamma,
                          Sequence& prog, const Type& partialsType, const DebugContext& debug, const OptionFlags& options) {
  const std::string function = "popnn::gn::groupNormGradients";
  const Grouping grouping(actsWhitened, groups_of(actsWhitened, invStdDev, function), options, function);
  const Tensor scaled = poplin::normGradients(graph, gradsIn, gamma, prog, {debug, "GroupNorm"});
  return grouping.undo(poplin::normStatisticsGradients(graph, grouping.apply(actsWhitened), grouping.apply(scaled), invStdDev, prog,
                                                       partialsType, {debug, "GroupNorm"}));
}

void groupNormParamUpdate(Graph& graph, const Tensor& gammaDelta, const Tensor& betaDelta, float scale, Tensor& gamma, Tensor& beta,
                          Sequence& prog, const DebugContext& debug, const OptionFlags& options) {
  is_strided(options);
  internal::update_params(graph, gammaDelta, betaDelta, scale, gamma, beta, prog, {debug, "GroupNorm"}, "popnn::gn::groupNormParamUpdate");
}

void groupNormParamUpdate(Graph& graph, const Tensor& gammaDelta, const Tensor& betaDelta, const Tensor& scale, Tensor& gamma, Tensor& beta,
                          Sequence& prog, const DebugContext& debug, const OptionFlags& options) {
  is_strided(options);
  internal::update_params(graph, gammaDelta, betaDelta, scale, gamma, beta, prog, {debug, "GroupNorm"}, "popnn::gn::groupNormParamUpdate");
}

namespace {

// The options without Pando's own, which is set.
OptionFlags without_own(const OptionFlags& options, bool& in_rows) {
  const poplibs::OptionSpec spec{{"pando.inRows", poplibs::OptionHandler::createWithBool(in_rows)}};
  OptionFlags others;
  for (const auto& entry : options) {
    if (entry.first == "pando.inRows")
      spec.parse(entry.first, entry.second);
    else
      others.set(entry.first, entry.second);
  }
  return others;
}

bool are_channels(const Tensor& t, const Tensor& acts) {
  return t.rank() == 1 && t.dim(0) == acts.dim(1) && t.elementType() == acts.elementType();
}

}  // namespace

std::array<Tensor, 3> groupNorm(Graph& graph, const Tensor& acts, const Tensor& gamma, const Tensor& beta, float eps, Sequence& prog,
                                unsigned numGroups, const DebugContext& debug, const OptionFlags& options) {
  bool in_rows = true;
  const OptionFlags others = without_own(options, in_rows);
  const Grouping checked(acts, numGroups, others, "popnn::gn::groupNorm");
  if (in_rows && internal::are_rows(graph, acts, numGroups) && are_channels(gamma, acts) && are_channels(beta, acts))
    return internal::normalise_rows(graph, acts, gamma, beta, eps, prog, {debug, "GroupNorm"});
  const auto [mean, inverse] = groupNormStatistics(graph, acts, eps, prog, numGroups, false, true, FLOAT, debug, others);
  return {groupNormalise(graph, acts, gamma, beta, mean, inverse, prog, debug, others).first, mean, inverse};
}

std::array<Tensor, 3> groupNormAllGradients(Graph& graph, const Tensor& acts, const Tensor& gradsIn, const Tensor& mean,
                                            const Tensor& invStdDev, const Tensor& gamma, Sequence& prog, const DebugContext& debug,
                                            const OptionFlags& options) {
  bool in_rows = true;
  const OptionFlags others = without_own(options, in_rows);
  const std::size_t groups = groups_of(acts, mean, "popnn::gn::groupNormAllGradients");
  const bool same = gradsIn.shape() == acts.shape() && gradsIn.elementType() == acts.elementType() && invStdDev.shape() == mean.shape() &&
                    mean.elementType() == FLOAT && invStdDev.elementType() == FLOAT;
  if (in_rows && same && internal::are_rows(graph, acts, groups) && are_channels(gamma, acts) && gradsIn.isContiguous())
    return internal::gradients_of_rows(graph, acts, gradsIn, mean, invStdDev, gamma, prog, {debug, "GroupNorm"});
  const Tensor whitened = groupNormWhiten(graph, acts, mean, invStdDev, prog, debug, others);
  const Tensor gradient = groupNormGradients(graph, whitened, gradsIn, invStdDev, gamma, prog, FLOAT, debug, others);
  const auto [of_gamma, of_beta] = groupNormParamGradients(graph, whitened, gradsIn, prog, FLOAT, debug, others);
  return {gradient, of_gamma, of_beta};
}

}  // namespace gn
}  // namespace popnn
