// Bounded channels over ranks of one process: capacities, and every way in which a run can come to stand still.
#include "exec/transports/channels.h"

#include "exec/transports/in_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace pando::exec {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

// Ranks with their ends of the same channels.
class Ranks {
 public:
  Ranks(unsigned ranks, const std::vector<Channel>& channels, Channels::Options options = quick())
      : transports_(in_process_transports(ranks)) {
    for (auto& t : transports_) ends_.push_back(std::make_unique<Channels>(channels, *t, options));
    for (unsigned r = 0; r < ranks; ++r) transports_[r]->start([this, r](Packet p) { ends_[r]->deliver(std::move(p)); });
  }
  ~Ranks() {
    for (auto& t : transports_) t->start({});
  }
  Channels& operator[](unsigned rank) { return *ends_[rank]; }

  static Channels::Options quick() {
    Channels::Options o;
    o.ask_after = 20ms;
    return o;
  }

 private:
  std::vector<std::unique_ptr<Transport>> transports_;
  std::vector<std::unique_ptr<Channels>> ends_;
};

// Channel 0 goes from device 0 to device 1, channel 1 back; on one rank or on two.
std::vector<Channel> there_and_back(unsigned ranks, std::int64_t capacity) {
  const unsigned other = ranks - 1;
  return {{"there", 0, 1, 0, other, sizeof(int), capacity}, {"back", 1, 0, other, 0, sizeof(int), capacity}};
}

// Runs both devices to their end or failure; what they say.
template <class A, class B>
std::pair<std::string, std::string> both(Ranks& ranks, unsigned other, A a, B b) {
  std::string first, second;
  const auto guarded = [](auto f, std::string& to) {
    try {
      f();
    } catch (const RunFailed& e) { to = e.what(); }
  };
  std::thread thread([&] {
    guarded(b, second);
    ranks[other].ended(1);
  });
  guarded(a, first);
  ranks[0].ended(0);
  thread.join();
  return {first, second};
}

TEST(Channels, a_sender_is_at_most_its_capacity_ahead_and_messages_keep_their_order) {
  for (unsigned n : {1u, 2u}) {
    for (std::int64_t capacity : {0, 1, 3, -1}) {
      Ranks ranks(n, there_and_back(n, capacity));
      std::atomic<int> sent{0}, received{0}, most{0};
      const auto [a, b] = both(
          ranks, n - 1,
          [&] {
            for (int i = 0; i < 50; ++i) {
              ranks[0].send(0, &i);
              sent = i + 1;
              most = std::max(most.load(), i + 1 - received.load());
            }
          },
          [&] {
            for (int i = 0; i < 50; ++i) {
              if (i % 10 == 0) std::this_thread::sleep_for(5ms);
              int message = -1;
              received = i + 1;  // from now on the slot counts as free
              ranks[n - 1].receive(0, &message);
              ASSERT_EQ(message, i);
            }
          });
      EXPECT_EQ(a + b, "");
      EXPECT_EQ(sent, 50);
      if (capacity >= 0) EXPECT_LE(most, capacity) << capacity << " on " << n;
      if (capacity < 0) EXPECT_GT(most, 3);
      EXPECT_TRUE(ranks[n - 1].left_over().empty());
      EXPECT_EQ(ranks[0].traffic(0).sent, 50u);
      EXPECT_EQ(ranks[n - 1].traffic(1).received, 50u);
    }
  }
}

TEST(Channels, a_deadlock_is_found_and_says_who_waits_for_what) {
  for (unsigned n : {1u, 2u}) {
    Ranks ranks(n, there_and_back(n, 1));
    int x = 0;
    const auto [a, b] = both(ranks, n - 1, [&] { ranks[0].receive(1, &x); }, [&] { ranks[n - 1].receive(0, &x); });
    EXPECT_EQ(a, b);
    EXPECT_THAT(a, HasSubstr("deadlock: device 0 (rank 0) waits to receive 'back' from device 1, message 1; device 1 (rank "));
    EXPECT_THAT(a, HasSubstr("waits to receive 'there' from device 0, message 1 [deadlock]"));
  }
}

TEST(Channels, what_stands_still_with_a_rendezvous_goes_on_with_a_slot) {
  for (std::int64_t capacity : {0, 1}) {
    Ranks ranks(2, there_and_back(2, capacity));
    int x = 1, y = 2;
    const auto [a, b] =
        both(ranks, 1, [&] { ranks[0].send(0, &x), ranks[0].receive(1, &y); }, [&] { ranks[1].send(1, &x), ranks[1].receive(0, &y); });
    EXPECT_EQ(a.empty(), capacity == 1);
    if (capacity == 0)
      EXPECT_THAT(
          a, HasSubstr("deadlock: device 0 (rank 0) waits to send 'there' to device 1, message 1; device 1 (rank 1) waits to send 'back'"));
    EXPECT_EQ(a, b);
  }
}

TEST(Channels, who_waits_for_a_device_that_has_ended_is_told) {
  for (unsigned n : {1u, 2u}) {
    Ranks ranks(n, there_and_back(n, 1));
    int x = 0;
    const auto [a, b] = both(ranks, n - 1, [&] { ranks[0].receive(1, &x); }, [] {});
    EXPECT_THAT(a,
                HasSubstr("device 0 (rank 0) waits to receive 'back' from device 1, message 1; device 1 has come to its end [deadlock]"));
    EXPECT_EQ(b, "");
  }
}

// Devices ask at once why they wait: also those whose message has come while nobody has let them go on.
TEST(Channels, who_has_not_been_scheduled_since_its_message_came_is_no_deadlock) {
  Channels::Options options;
  options.ask_after = 0ms;
  for (unsigned n : {1u, 2u}) {
    for (std::int64_t capacity : {0, 1, 2}) {
      Ranks ranks(n, there_and_back(n, capacity), options);
      constexpr int kMessages = 2000;
      const auto [a, b] = both(
          ranks, n - 1,
          [&] {
            for (int i = 0; i < kMessages; ++i) ranks[0].send(0, &i);
          },
          [&] {
            for (int i = 0; i < kMessages; ++i) {
              int message = -1;
              ranks[n - 1].receive(0, &message);
              ASSERT_EQ(message, i);
            }
          });
      EXPECT_EQ(a + b, "") << capacity << " on " << n;
    }
  }
}

TEST(Channels, a_slow_device_is_no_deadlock) {
  Ranks ranks(2, there_and_back(2, 1));
  int x = 7, y = 0;
  const auto [a, b] = both(
      ranks, 1, [&] { ranks[0].receive(1, &y); },
      [&] {
        std::this_thread::sleep_for(200ms);
        ranks[1].send(1, &x);
      });
  EXPECT_EQ(a + b, "");
  EXPECT_EQ(y, 7);
  EXPECT_GT(ranks[0].traffic(0).waited, 0.1);
}

TEST(Channels, a_wait_ends_at_last) {
  Channels::Options options = Ranks::quick();
  options.give_up = 60ms;
  Ranks ranks(2, there_and_back(2, 1), options);
  int x = 0;
  std::atomic<bool> over{false};
  const auto [a, b] = both(
      ranks, 1, [&] { ranks[0].receive(1, &x), over = true; },
      [&] {
        for (int i = 0; i < 100 && ranks[1].failure().empty(); ++i) std::this_thread::sleep_for(10ms);
      });
  EXPECT_THAT(a, HasSubstr("no progress for 0 s: device 0 (rank 0) waits to receive 'back' from device 1, message 1 [timeout]"));
  EXPECT_FALSE(over);
}

TEST(Channels, a_failure_ends_the_waits_of_all_ranks) {
  Ranks ranks(3, {{"c", 0, 1, 0, 1, 4, 1}, {"d", 2, 1, 2, 1, 4, 1}});
  std::string text;
  int x = 0;
  std::thread waits([&] {
    try {
      ranks[1].receive(0, &x);
    } catch (const RunFailed& e) { text = e.what(); }
  });
  std::this_thread::sleep_for(10ms);
  ranks[2].fail("rank 2 has no memory");
  ranks[2].fail("and something else");
  waits.join();
  EXPECT_EQ(text, "rank 2 has no memory");
  EXPECT_EQ(ranks[0].failure(), text);
  EXPECT_THROW(ranks[0].send(0, &x), RunFailed);
}

TEST(Buffers, what_was_given_is_taken_again_where_it_fits) {
  Buffers buffers;
  std::string first = buffers.take(100000);
  EXPECT_EQ(first.size(), 100000u);
  EXPECT_GE(first.capacity(), 100000u + Packet::kRoom);
  const char* const memory = first.data();
  buffers.give(std::move(first));
  const std::string small = buffers.take(1000), large = buffers.take(200000);
  EXPECT_NE(small.data(), memory);  // most of it would lie idle
  EXPECT_NE(large.data(), memory);
  const std::string again = buffers.take(99000);
  EXPECT_EQ(again.data(), memory);
  EXPECT_EQ(again.size(), 99000u);
  EXPECT_NE(buffers.take(99000).data(), memory);
}

}  // namespace
}  // namespace pando::exec
