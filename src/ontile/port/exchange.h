// Exchange between the interpreters of a machine. Machines move what lies at fixed places in the same step on all tiles; so a tile
// that wants to exchange says what it waits for and suspends, and the machine answers once every tile waits or is done:
//
//   data    a group of neighbouring tiles has put the next bytes of their messages into the window, `slot` bytes each
//   match   who receives from whom is settled for a batch of messages between pairs
//   stop    the command is over for all; what was not received yet stays in the outbox
//   error   nothing can go on: tiles wait for different things
//   errand  one tile's request to the memory that another one lends was carried out, without that one's interpreter (remote_disk.c)
//
// Every message starts with its length. Every tile sees every window, so all know without asking when a collective is complete.
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum exchange_kind { kind_none, kind_allgather, kind_broadcast, kind_reduce, kind_allreduce, kind_barrier, kind_receive, kind_flush, kind_errand };
enum exchange_operation { exchange_nothing, exchange_data, exchange_match, exchange_stop, exchange_error, exchange_errand };

struct exchange_request {
  uint32_t kind;       // exchange_kind
  uint32_t argument;   // the root of a collective
  uint32_t pending;    // bytes of the collective's message that were not taken yet
  uint32_t matched;    // bytes of the matched message between a pair that were not taken yet
  uint32_t outbox;     // to how many tiles messages wait
  uint32_t from;       // of a receive: tile + 1; 0xffff: any; 0: none
  uint32_t to;         // the message that is up: tile + 1; 0: none
  uint32_t lender;     // of an errand: tile + 1
};

struct exchange_control {
  uint32_t operation;  // exchange_operation
  uint32_t first;      // of data: the group's first tile, tiles in it, bytes a tile
  uint32_t count;
  uint32_t slot;
  uint32_t pairs;      // of data: 1 for a matched batch, 0 for a collective
  uint32_t reserved[3];
};

// What a tile offers for an errand; then, of a write, the bytes. The control's words are: exchange_errand, who asks, where in the window
// the errand is, who lends, where in the window its answer is.
enum errand_operation { errand_none, errand_read, errand_write };
struct exchange_errand_head {
  uint32_t operation;
  uint32_t at, bytes;  // in the memory that is lent
  uint32_t reserved;
};

void exchange_init(void);
// After a command: lets others receive what this tile sent, until the machine stops it.
void exchange_flush(void);
bool exchange_has_unsent(void);
// From before the offer of a step until its answer is read: a long step does not make the tile wait meanwhile. An exception releases it, too;
// `release` is on the caller's stack.
struct _nlr_jump_callback_node_t;
void exchange_hold_step(struct _nlr_jump_callback_node_t *release);
void exchange_release_step(void);
// Raises where a tile must not wait for others.
void exchange_check(void);
