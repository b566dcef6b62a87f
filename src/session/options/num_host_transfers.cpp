#include "base/sizes.h"
#include "ir/error.h"
#include "ir/module.h"
#include "session/option_rows.h"

namespace pando::session {

using ir::ErrorClass;
using ir::HostStreamId;

namespace {

void check_transfers(const OptionValue& value, const lower::OptionContext& c) {
  const std::int64_t transfers = std::get<std::int64_t>(value);
  if (transfers < 1) ir::reject(ErrorClass::value, "host-transfers", "{} host transfers a run; there must be 1 or more", transfers);
  for (std::size_t i = 0; i < c.module.stream_count(); ++i) {
    const ir::HostStream& h = c.module.stream(HostStreamId(static_cast<HostStreamId::rep>(i)));
    std::uint64_t bytes = saturating_mul(static_cast<std::uint64_t>(transfers), static_cast<std::uint64_t>(c.module.replicas()));
    bytes = saturating_mul(saturating_mul(bytes, static_cast<std::uint64_t>(ir::elements_of(h.shape))), ir::size_of(h.dtype));
    if (bytes <= kMostBytes) continue;
    ir::reject(ErrorClass::value, "stream-too-large",
               "stream '{}' of shape {}: {} transfers to {} replicas are more bytes than a host can hold", h.name, ir::to_string(h.shape),
               transfers, c.module.replicas());
  }
}

}  // namespace

OptionRow option_num_host_transfers() {
  return {.name = "num_host_transfers",
          .effect = "slices of each stream in a run; in Python `ir.num_host_transfers`",
          .otherwise = std::int64_t{1},
          .from_text = false,
          .check = check_transfers};
}

}  // namespace pando::session
