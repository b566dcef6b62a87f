// When devices do what, by the machine's clock: each step takes its cycles, and a message is there when its sender has ended the step that
// sends it.
#pragma once

#include "exec/transports/channels.h"
#include "ranks/timeline/recorder.h"

#include <vector>

namespace pando::ranks {

// Seconds, parallel to DeviceTimeline::steps.
struct ReplayedStep {
  double begin = 0, end = 0;
};

// By device. A device's streams run beside each other. A receiver waits for its message; a sender that is a channel's capacity ahead waits
// until the receiver has taken one; of capacity 0 both wait for each other. What waits for a message that was not recorded goes on.
std::vector<std::vector<ReplayedStep>> replay(const std::vector<DeviceTimeline>& devices, const std::vector<exec::Channel>& channels);

}  // namespace pando::ranks
