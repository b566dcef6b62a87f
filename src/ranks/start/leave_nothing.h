// What a run of ranks has on its host beside processes: a folder for temporary files, one for memory that ranks share. Both are gone when
// the run is over, however it ends: a process of its own waits for that.
#pragma once

#include <cstdint>
#include <string>

namespace pando::ranks {

class LeaveNothing {
 public:
  // Makes the folders, with room for so many ranks; rejects (file_load_error) where there is not enough: "cannot write ...: No space left
  // on device". `variable` is one that all processes of the run will have in their environment, with the value of mark().
  LeaveNothing(unsigned ranks, const std::string& variable);
  // Ends what is left of the run's processes, be it stopped, and removes the folders.
  ~LeaveNothing();
  LeaveNothing(const LeaveNothing&) = delete;
  LeaveNothing& operator=(const LeaveNothing&) = delete;

  // A file of the first folder, which nobody has made yet.
  const std::string& mark() const { return mark_; }
  const std::string& folder() const { return folder_; }
  // May be empty: there is no memory with names.
  const std::string& memory() const { return memory_; }

 private:
  std::string folder_, memory_, mark_;
  int held_ = -1;  // closed with this process
  std::int32_t cleaner_ = 0;
};

}  // namespace pando::ranks
