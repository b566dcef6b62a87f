// What a pipelined loop does with state: which version of it each sample reads. Nobody but the user can choose.
//
//     strict      every read sees the version of the sequential loop; samples overlap only where no state joins them
//     delay       each read takes the newest version that is there: the sample's own, or one that is `n` samples older
//     stash       as delay, but all reads of a state in one sample see one version; the update begins with the newest
//     2BW M       gradients of M samples (2 or more) are summed; each window reads the version before the last; no drain between windows
//     flush M     the same sums; the state stands still through a window, which is drained before the update
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace pando::project {

enum class PolicyKind : std::uint8_t { strict, delay, stash, double_buffered, flush };

struct Policy {
  PolicyKind kind = PolicyKind::strict;
  // Samples between updates, of 2BW and flush.
  std::int64_t window = 1;
  // Of delay and stash: the oldest version that may be read; -1: any.
  std::int64_t at_most = -1;

  bool windowed() const { return kind == PolicyKind::double_buffered || kind == PolicyKind::flush; }
  friend bool operator==(const Policy&, const Policy&) = default;
};

// "strict", "delay", "delay at most 2", "stash", "2BW 4", "flush 4".
std::string to_string(const Policy& policy);
// Rejects (value) anything else.
Policy parse_policy(std::string_view text);

}  // namespace pando::project
