#include "poputil/Broadcast.hpp"
#include "poplibs/poputil/reject.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "poputil/exceptions.hpp"

namespace poputil {
namespace {

using poplar::Tensor;
using Shape = std::vector<std::size_t>;

void raise_rank(Tensor& t, std::size_t rank) {
  if (t.rank() < rank) t = t.expand(std::vector<std::size_t>(rank - t.rank(), 0));
}

bool match(std::size_t a, std::size_t b) { return a == b || a == 1 || b == 1; }

// Of two matching dimensions. A dimension of 0 against 1 gives 0.
std::size_t joined(std::size_t a, std::size_t b) { return a == 1 ? b : a; }

// The smallest shape that both match.
Shape joined_shape(const Shape& a, const Shape& b) {
  Shape out = a.size() < b.size() ? b : a;
  const Shape& shorter = a.size() < b.size() ? a : b;
  for (std::size_t i = 1; i <= shorter.size(); ++i) {
    std::size_t& size = out[out.size() - i];
    const std::size_t other = shorter[shorter.size() - i];
    if (!match(size, other))
      poputil::reject("shapes-do-not-broadcast", "broadcastToMatch: shapes [{}] and [{}] do not match", fmt::join(a, ","),
                      fmt::join(b, ","));
    size = joined(size, other);
  }
  return out;
}

}  // namespace

void expandToMatchRanks(Tensor& a, Tensor& b) {
  raise_rank(a, b.rank());
  raise_rank(b, a.rank());
}

void broadcastToMatch(Tensor& a, const Shape& shape) {
  const Shape from = a.shape();
  const auto fail = [&] {
    poputil::reject("shapes-do-not-broadcast", "broadcastToMatch: a tensor of shape [{}] cannot be broadcast to [{}]", fmt::join(from, ","),
                    fmt::join(shape, ","));
  };
  if (from.size() > shape.size()) fail();
  const std::size_t leading = shape.size() - from.size();
  for (std::size_t d = 0; d < from.size(); ++d)
    if (from[d] != shape[leading + d] && from[d] != 1) fail();
  raise_rank(a, shape.size());
  for (unsigned d = 0; d < shape.size(); ++d)
    if (a.dim(d) != shape[d]) a = a.broadcast(static_cast<unsigned>(shape[d]), d);
}

void broadcastToMatch(Tensor& a, Tensor& b) {
  const Shape shape = joined_shape(a.shape(), b.shape());
  broadcastToMatch(a, shape);
  broadcastToMatch(b, shape);
}

void broadcastToMatch(Tensor& a, Tensor& b, Tensor& c) {
  const Shape shape = joined_shape(joined_shape(a.shape(), b.shape()), c.shape());
  broadcastToMatch(a, shape);
  broadcastToMatch(b, shape);
  broadcastToMatch(c, shape);
}

bool canBroadcastToMatch(const Tensor& a, const Tensor& b) {
  const Shape s = a.shape(), t = b.shape();
  for (std::size_t i = 1; i <= std::min(s.size(), t.size()); ++i)
    if (!match(s[s.size() - i], t[t.size() - i])) return false;
  return true;
}

}  // namespace poputil
