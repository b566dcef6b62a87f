// The packets of a run sorted: those of channels go to the channels, others wait until they are asked for.
#pragma once

#include "exec/transports/channels.h"

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace pando::ranks {

// Nothing has come in time: what was waited for.
class TimedOut : public exec::RunFailed {
 public:
  using exec::RunFailed::RunFailed;
};

class Mail {
 public:
  // `timeout`: seconds that wait() waits; 0: for ever.
  explicit Mail(exec::Transport& transport, double timeout = 0);
  ~Mail();
  Mail(const Mail&) = delete;
  Mail& operator=(const Mail&) = delete;

  exec::Transport& transport() { return transport_; }
  // Packets of channels that came before are handed over now. Null: they wait again, and the channels are left alone when this
  // returns.
  void set_channels(exec::Channels* channels);
  void post(unsigned to, exec::Packet::Kind kind, std::string bytes = {});
  void post_all(exec::Packet::Kind kind, const std::string& bytes = {});
  // The next packet of a kind. Throws RunFailed where the channels have failed, TimedOut where none has come in time: `what` says what was
  // waited for. `goes_on`, if it is given, is asked then whether there is reason to wait as long again.
  exec::Packet wait(exec::Packet::Kind kind, std::string_view what, const std::function<bool()>& goes_on = {});
  // All of a kind that are here.
  std::deque<exec::Packet> take_all(exec::Packet::Kind kind);
  // Wakes who waits: the channels have failed.
  void wake();

 private:
  void take(exec::Packet packet);

  exec::Transport& transport_;
  const double timeout_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<exec::Packet::Kind, std::deque<exec::Packet>> waiting_;
  std::deque<exec::Packet> early_;
  exec::Channels* channels_ = nullptr;
  unsigned delivering_ = 0;
};

}  // namespace pando::ranks
