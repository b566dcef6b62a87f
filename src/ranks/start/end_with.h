// A process that ends with another one, whose child it need not be.
#pragma once

#include <cstdint>

namespace pando::ranks {

// From now on this process gets SIGTERM when `process` has ended, however it ended, and goes a moment later at the latest. At once where it
// has ended already. A parent's death signal is not enough: it comes when the thread ends that started the child, and from the next of kin
// alone.
void end_with(std::int32_t process);

}  // namespace pando::ranks
