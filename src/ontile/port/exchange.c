#include "exchange.h"

#include <string.h>

#include "py/builtin.h"
#include "py/gc.h"
#include "py/objlist.h"
#include "py/runtime.h"

#include "disk.h"
#include "host.h"
#include "pack.h"

enum { kLengthBytes = 4, kAnyTile = 0xffff, kSmallMessage = 256 };
static const uint32_t kAbsent = 0xffffffff;  // instead of a length: the tile does not take part
static const uint32_t kNobody = 0xffffffff;

static uint32_t here(void) { return host_exchange_place(0); }
static uint32_t taking_part(void) { return host_exchange_place(1); }
static uint32_t all_tiles(void) { return host_exchange_place(2); }

// A message on its way out: its length, its head, its raw bytes; `taken` of all these are through.
typedef struct _outgoing_t {
  message_t message;
  uint32_t taken;
  uint32_t to;
} outgoing_t;

static uint32_t outgoing_bytes(const outgoing_t *o) { return kLengthBytes + message_bytes(&o->message); }
static uint32_t outgoing_left(const outgoing_t *o) { return outgoing_bytes(o) - o->taken; }

// Puts the next bytes where the machine takes them.
static void offer(const outgoing_t *o) {
  const uint32_t length = message_bytes(&o->message);
  const struct {
    const char *at;
    uint32_t bytes;
  } parts[] = {{(const char *)&length, kLengthBytes}, {o->message.head.buf, o->message.head.len}, {o->message.raw, o->message.raw_bytes}};
  const uint32_t most = host_exchange_offer_bytes();
  uint32_t skip = o->taken, put = 0;
  for (size_t i = 0; i < 3 && put < most; i++) {
    if (skip >= parts[i].bytes) {
      skip -= parts[i].bytes;
      continue;
    }
    const uint32_t count = MIN(parts[i].bytes - skip, most - put);
    host_exchange_offer(put, parts[i].at + skip, count);
    put += count;
    skip = 0;
  }
}

// A copy of the window, for as long as a round is taken from it; null: the window itself.
static const char *round_kept;
static void read_round(uint32_t at, void *to, uint32_t count) {
  if (round_kept) memcpy(to, round_kept + at, count);
  else host_exchange_read(at, to, count);
}

// What is offered, and the window that is read, belong to one step of the machine: until it is over, a long step does not make the tile
// wait for the next one.
static bool holds_step;
static void release_step(void *context) {
  (void)context;
  holds_step = false;
}
void exchange_hold_step(nlr_jump_callback_node_t *release) {
  holds_step = true;
  nlr_push_jump_callback(release, release_step);
}
void exchange_release_step(void) { nlr_pop_jump_callback(true); }
int EXPORT(py_holds_step)(void) { return holds_step; }

// A message on its way in.
typedef struct _incoming_t {
  uint32_t length, got;
  mp_obj_t array;  // an array alone: `target` are its items
  char *target;    // where byte `head_bytes` of the message and what follows go: the items, or memory for the message
  uint32_t head_bytes;
  bool begun;
} incoming_t;

// Takes the bytes [at, at + count) of the window. True when the message is complete.
static bool take_in(incoming_t *in, uint32_t at, uint32_t count) {
  if (!in->begun) {
    read_round(at, &in->length, kLengthBytes);
    at += kLengthBytes;
    count -= kLengthBytes;
    char first[12];
    const uint32_t known = MIN(MIN(count, in->length), sizeof(first));
    read_round(at, first, known);
    in->begun = true;
    in->head_bytes = 0;
    in->array = unpack_array_head(first, known, in->length, &in->head_bytes, &in->target);
    if (in->array == MP_OBJ_NULL) {
      in->head_bytes = 0;
      in->target = m_new(char, in->length);
    }
    in->got = in->head_bytes;
    at += in->head_bytes;
    count -= MIN(count, in->head_bytes);
  }
  const uint32_t now = MIN(count, in->length - in->got);
  read_round(at, in->target + in->got - in->head_bytes, now);
  in->got += now;
  return in->got == in->length;
}

static mp_obj_t taken_in(const incoming_t *in) { return in->array != MP_OBJ_NULL ? in->array : unpack(in->target, in->length); }

// An operation runs while all tiles are within a collective: it cannot exchange itself.
static bool in_operation;
void exchange_check(void) {
  if (in_operation) mp_raise_msg(&mp_type_RuntimeError, MP_ERROR_TEXT("the operation of a reduction cannot exchange"));
}

// --- the outbox: messages between pairs -----------------------------------------------------------------------------

MP_REGISTER_ROOT_POINTER(struct _mp_obj_list_t *outbox);  // null while it is empty: each key asks

static struct {
  uint32_t cursor;       // which receiver's message is up
  outgoing_t *matched;   // in this batch
  uint32_t expected;     // from whom this tile receives in this batch; kNobody
} pairs;

static mp_obj_list_t *outbox(void) { return MP_STATE_VM(outbox); }
static outgoing_t *outbox_at(size_t i) { return (outgoing_t *)MP_OBJ_TO_PTR(outbox()->items[i]); }

// The first message to each receiver, in order: those may be up.
static uint32_t receivers(uint32_t wanted, outgoing_t **up) {
  uint32_t count = 0;
  for (size_t i = 0; exchange_has_unsent() && i < outbox()->len; i++) {
    bool first = true;
    for (size_t j = 0; j < i && first; j++) first = outbox_at(j)->to != outbox_at(i)->to;
    if (!first) continue;
    if (count++ == wanted) *up = outbox_at(i);
  }
  return count;
}

static void remove_from_outbox(const outgoing_t *message) {
  mp_obj_list_t *const list = outbox();
  size_t kept = 0;
  for (size_t i = 0; i < list->len; i++)
    if (outbox_at(i) != message) list->items[kept++] = list->items[i];
  mp_seq_clear(list->items, kept, list->len, sizeof(*list->items));
  list->len = kept;
  if (kept == 0) MP_STATE_VM(outbox) = NULL;
}

// --- waiting ----------------------------------------------------------------------------------------------------------

static NORETURN void fail(void) {
  char reason[240];
  const uint32_t count = host_exchange_reason(reason, sizeof(reason));
  nlr_raise(mp_obj_new_exception_arg1(&mp_type_RuntimeError, mp_obj_new_str(reason, MIN(count, sizeof(reason)))));
}

// One wait within a held step, with what concerns messages between pairs done. `mine`: the collective's message, or null. `in`: of a receive.
// Returns what the machine said; `complete` is set when `in` is.
static struct exchange_control wait(enum exchange_kind kind, uint32_t argument, outgoing_t *mine, uint32_t from, incoming_t *in, bool *complete) {
  exchange_check();
  round_kept = NULL;
  outgoing_t *up = NULL;
  const uint32_t count = receivers(0, &up);
  if (count > 1) receivers(pairs.cursor % count, &up);
  const struct exchange_request request = {
      .kind = kind,
      .argument = argument,
      .pending = mine ? outgoing_left(mine) : 0,
      .matched = pairs.matched ? outgoing_left(pairs.matched) : 0,
      .outbox = count,
      .from = from,
      .to = up ? up->to + 1 : 0,
  };
  if (pairs.matched) offer(pairs.matched);
  else if (mine && request.pending) offer(mine);
  struct exchange_control control;
  if (!host_exchange_wait(&request, &control)) mp_raise_msg(&mp_type_RuntimeError, MP_ERROR_TEXT("this tile cannot exchange"));
  if (control.operation == exchange_error) {
    pairs.matched = NULL;
    pairs.expected = kNobody;
    fail();
  }
  if (control.operation == exchange_match) {
    pairs.cursor++;
    pairs.expected = from ? host_exchange_pair(0) : kNobody;
    pairs.matched = up && host_exchange_pair(1) ? up : NULL;
    if (pairs.matched) pairs.matched->taken = 0;
  }
  if (control.operation != exchange_data) return control;
  const bool in_group = here() - control.first < control.count;
  if (!control.pairs) {
    if (mine && in_group) mine->taken += MIN(control.slot, outgoing_left(mine));
    return control;
  }
  const uint32_t from_slot = pairs.expected - control.first;
  if (in && pairs.expected != kNobody && from_slot < control.count) *complete = take_in(in, from_slot * control.slot, control.slot);
  if (pairs.matched && in_group) {
    pairs.matched->taken += MIN(control.slot, outgoing_left(pairs.matched));
    if (outgoing_left(pairs.matched) == 0) {
      remove_from_outbox(pairs.matched);
      pairs.matched = NULL;
    }
  }
  return control;
}

// --- collectives ------------------------------------------------------------------------------------------------------

// What a tile keeps of others, sorted by tile: few at once, whatever their number.
typedef struct _kept_t {
  uint32_t tile;
  void *what;
} kept_t;
typedef struct _shelf_t {
  kept_t *items;
  uint32_t count, room;
} shelf_t;

// Where the tile is, or would be.
static uint32_t shelf_place(const shelf_t *s, uint32_t tile) {
  uint32_t low = 0, high = s->count;
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    if (s->items[middle].tile < tile) low = middle + 1;
    else high = middle;
  }
  return low;
}
static void *shelf_get(const shelf_t *s, uint32_t tile) {
  const uint32_t i = shelf_place(s, tile);
  return i < s->count && s->items[i].tile == tile ? s->items[i].what : NULL;
}
static void shelf_put(shelf_t *s, uint32_t tile, void *what) {
  if (s->count == s->room) {
    const uint32_t room = s->room ? 2 * s->room : 8;
    s->items = m_renew(kept_t, s->items, s->room, room);
    s->room = room;
  }
  const uint32_t i = shelf_place(s, tile);
  memmove(s->items + i + 1, s->items + i, (s->count++ - i) * sizeof(kept_t));
  s->items[i] = (kept_t){tile, what};
}
static void shelf_remove(shelf_t *s, uint32_t tile) {
  const uint32_t i = shelf_place(s, tile);
  memmove(s->items + i, s->items + i + 1, (--s->count - i) * sizeof(kept_t));
  s->items[s->count].what = NULL;
}

// Messages of some or all tiles, gathered by those that want them. Who wants no list of all keeps a bit of each tile, and what cannot be
// used yet.
typedef struct _gather_t {
  mp_obj_list_t *objects;  // of tiles 0, 1 ..., where all are wanted: an object, or null
  uint32_t *done;          // by tile, a bit: its message is through, or it takes no part
  shelf_t partial;         // messages that needed more than one round: incoming_t
  shelf_t waiting;         // objects that are to be folded behind others; all, where they are few
  mp_obj_t last;           // the object that came last
  uint32_t complete;
  // Who reduces keeps no object for longer than until its predecessors are there.
  bool folds, at_once;
  bool keeps;  // all objects, of few of the tiles
  mp_obj_t operation;
  mp_obj_t result;  // of tiles 0 to next - 1, or null
  mp_obj_t error;   // what the operation raised, or null
  uint32_t next;
} gather_t;

static bool is_done(const gather_t *g, uint32_t tile) { return g->done[tile / 32] >> (tile % 32) & 1; }
static void set_done(gather_t *g, uint32_t tile) { g->done[tile / 32] |= UINT32_C(1) << (tile % 32); }

static mp_obj_t combine(mp_obj_t operation, mp_obj_t a, mp_obj_t b) {
  if (operation == mp_const_none) return mp_binary_op(MP_BINARY_OP_ADD, a, b);
  return mp_call_function_2(operation, a, b);
}

// The collective goes on when the operation raises: the other tiles wait for its end.
static void fold(gather_t *g, mp_obj_t object) {
  if (g->error != MP_OBJ_NULL) return;
  if (g->result == MP_OBJ_NULL) {
    g->result = object;
    return;
  }
  nlr_buf_t nlr;
  in_operation = true;
  if (nlr_push(&nlr) == 0) {
    g->result = combine(g->operation, g->result, object);
    nlr_pop();
  } else {
    g->error = MP_OBJ_FROM_PTR(nlr.ret_val);
  }
  in_operation = false;
}

// Folds what is there in the order of tiles; with `all`, past tiles of which nothing came.
static void fold_in_order(gather_t *g, bool all) {
  for (; g->next < all_tiles() && (all || is_done(g, g->next)); g->next++) {
    void *const object = shelf_get(&g->waiting, g->next);
    if (!object) continue;
    shelf_remove(&g->waiting, g->next);
    fold(g, MP_OBJ_FROM_PTR(object));
  }
}

static void gathered(gather_t *g, uint32_t tile, mp_obj_t object) {
  set_done(g, tile);
  g->complete++;
  g->last = object;
  if (g->objects) g->objects->items[tile] = object;
  if (g->folds || g->keeps) shelf_put(&g->waiting, tile, MP_OBJ_TO_PTR(object));
  if (g->folds && g->at_once) fold_in_order(g, false);
}

// One slot of a round. Lengths are always read: all tiles must agree on when it is over.
static void take_slot(gather_t *g, uint32_t tile, uint32_t at, uint32_t slot, bool wanted) {
  incoming_t *in = shelf_get(&g->partial, tile);
  if (!in) {
    uint32_t small[kSmallMessage / 4];
    read_round(at, small, MIN(slot, sizeof(small)));
    if (is_done(g, tile)) return;
    if (small[0] == kAbsent) {
      set_done(g, tile);
      return;
    }
    const uint32_t length = small[0];
    if (length + kLengthBytes <= MIN(slot, sizeof(small))) return gathered(g, tile, wanted ? unpack((const char *)(small + 1), length) : mp_const_none);
    in = m_new0(incoming_t, 1);
    shelf_put(&g->partial, tile, in);
    if (!wanted) {  // only count
      in->begun = true;
      in->length = length + kLengthBytes;
    }
  }
  if (wanted) {
    if (take_in(in, at, slot)) {
      shelf_remove(&g->partial, tile);
      gathered(g, tile, taken_in(in));
    }
    return;
  }
  in->got += MIN(slot, in->length - in->got);
  if (in->got == in->length) {
    shelf_remove(&g->partial, tile);
    gathered(g, tile, mp_const_none);
  }
}

// Sends `object` if there is one, until `messages` messages are through.
static void gather(gather_t *g, enum exchange_kind kind, uint32_t argument, mp_obj_t object, uint32_t messages, bool wanted) {
  outgoing_t mine = {.taken = 0};
  if (object != MP_OBJ_NULL) pack(&mine.message, object);
  g->done = m_new0(uint32_t, (all_tiles() + 31) / 32);
  while (g->complete < messages) {
    nlr_jump_callback_node_t release;
    exchange_hold_step(&release);
    const struct exchange_control control = wait(kind, argument, object != MP_OBJ_NULL ? &mine : NULL, 0, NULL, NULL);
    const uint32_t slots = control.operation == exchange_data && !control.pairs ? control.count : 0;
    // The operation of a program (or its __add__) may print or wait, and then the window is another one. With no memory for a copy it is
    // called after the round.
    char *const kept = g->folds && slots > 0 ? m_new_maybe(char, slots * control.slot) : NULL;
    if (kept) {
      host_exchange_read(0, kept, slots * control.slot);
      exchange_release_step();
    }
    round_kept = kept;
    g->at_once = kept != NULL;
    for (uint32_t i = 0; i < slots && g->complete < messages; i++)
      if (kind != kind_broadcast || control.first + i == argument) take_slot(g, control.first + i, i * control.slot, control.slot, wanted);
    round_kept = NULL;
    if (kept) m_del(char, kept, slots * control.slot);
    else exchange_release_step();
    if (g->folds) fold_in_order(g, false);
  }
  if (g->folds) fold_in_order(g, true);
}

static uint32_t tile_argument(mp_obj_t object) {
  const mp_int_t tile = mp_obj_get_int(object);
  if (tile < 0 || (uint32_t)tile >= all_tiles()) mp_raise_msg_varg(&mp_type_ValueError, MP_ERROR_TEXT("there is no tile %d: tiles are 0 to %d"), (int)tile, (int)all_tiles() - 1);
  return (uint32_t)tile;
}

// Of those that take part, in order. A list of all tiles has no room for anything else where there are tens of thousands.
static mp_obj_t allgather(mp_obj_t object) {
  gather_t g = {.keeps = taking_part() < all_tiles() / 2};
  if (g.keeps) {
    gather(&g, kind_allgather, 0, object, taking_part(), true);
    mp_obj_list_t *const list = MP_OBJ_TO_PTR(mp_obj_new_list(g.waiting.count, NULL));
    for (uint32_t i = 0; i < g.waiting.count; i++) list->items[i] = MP_OBJ_FROM_PTR(g.waiting.items[i].what);
    return MP_OBJ_FROM_PTR(list);
  }
  g.objects = MP_OBJ_TO_PTR(mp_obj_new_list(all_tiles(), NULL));
  for (uint32_t i = 0; i < all_tiles(); i++) g.objects->items[i] = MP_OBJ_NULL;
  gather(&g, kind_allgather, 0, object, taking_part(), true);
  size_t kept = 0;
  for (size_t i = 0; i < g.objects->len; i++)
    if (g.objects->items[i] != MP_OBJ_NULL) g.objects->items[kept++] = g.objects->items[i];
  for (size_t i = kept; i < g.objects->len; i++) g.objects->items[i] = MP_OBJ_NULL;
  g.objects->len = kept;
  return MP_OBJ_FROM_PTR(g.objects);
}
static MP_DEFINE_CONST_FUN_OBJ_1(allgather_obj, allgather);

static mp_obj_t broadcast_from(mp_obj_t object, uint32_t root) {
  const bool is_root = here() == root;
  gather_t g = {.folds = false};
  gather(&g, kind_broadcast, root, is_root ? object : MP_OBJ_NULL, 1, !is_root);
  return is_root ? object : g.last;
}
static mp_obj_t broadcast(size_t count, const mp_obj_t *arguments) {
  return broadcast_from(arguments[0], count > 1 ? tile_argument(arguments[1]) : 0);
}
static MP_DEFINE_CONST_FUN_OBJ_VAR_BETWEEN(broadcast_obj, 1, 2, broadcast);

// On the root: what the operation made of all objects, or raised.
static gather_t reduce_to(enum exchange_kind kind, mp_obj_t object, mp_obj_t operation, uint32_t root) {
  gather_t g = {.folds = here() == root, .operation = operation};
  gather(&g, kind, root, object, taking_part(), g.folds);
  return g;
}
static mp_obj_t reduce(size_t count, const mp_obj_t *arguments) {
  const uint32_t root = count > 2 ? tile_argument(arguments[2]) : 0;
  const gather_t g = reduce_to(kind_reduce, arguments[0], count > 1 ? arguments[1] : mp_const_none, root);
  if (g.error != MP_OBJ_NULL) nlr_raise(g.error);
  return g.folds ? g.result : mp_const_none;
}
static MP_DEFINE_CONST_FUN_OBJ_VAR_BETWEEN(reduce_obj, 1, 3, reduce);

// One tile folds for all, and tells all: an exception of the operation, too.
static mp_obj_t allreduce(size_t count, const mp_obj_t *arguments) {
  const uint32_t root = host_exchange_place(3);
  const gather_t g = reduce_to(kind_allreduce, arguments[0], count > 1 ? arguments[1] : mp_const_none, root);
  mp_obj_t result = mp_const_none;
  if (g.folds) result = g.error != MP_OBJ_NULL ? g.error : mp_obj_new_tuple(1, &g.result);
  result = broadcast_from(result, root);
  if (!mp_obj_is_type(result, &mp_type_tuple)) nlr_raise(result);
  size_t length;
  mp_obj_t *items;
  mp_obj_get_array(result, &length, &items);
  return items[0];
}
static MP_DEFINE_CONST_FUN_OBJ_VAR_BETWEEN(allreduce_obj, 1, 2, allreduce);

static mp_obj_t barrier(void) {
  gather_t g = {.folds = false};
  gather(&g, kind_barrier, 0, mp_const_none, taking_part(), false);
  return mp_const_none;
}
static MP_DEFINE_CONST_FUN_OBJ_0(barrier_obj, barrier);

// --- between pairs ----------------------------------------------------------------------------------------------------

static mp_obj_t send(mp_obj_t object, mp_obj_t to) {
  outgoing_t *const message = m_new0(outgoing_t, 1);
  message->to = tile_argument(to);
  pack(&message->message, object);
  // Sent is what the object is now: the items of an array are copied, as it may change before it is received.
  if (message->message.raw_bytes) {
    vstr_add_strn(&message->message.head, message->message.raw, message->message.raw_bytes);
    message->message.raw_bytes = 0;
    message->message.keeps_raw = MP_OBJ_NULL;
  }
  if (!exchange_has_unsent()) MP_STATE_VM(outbox) = MP_OBJ_TO_PTR(mp_obj_new_list(0, NULL));
  mp_obj_list_append(MP_OBJ_FROM_PTR(outbox()), MP_OBJ_FROM_PTR(message));
  return mp_const_none;
}
static MP_DEFINE_CONST_FUN_OBJ_2(send_obj, send);

static mp_obj_t recv(size_t count, const mp_obj_t *arguments) {
  const bool any = count == 0 || arguments[0] == mp_const_none;
  const uint32_t from = any ? kAnyTile : tile_argument(arguments[0]) + 1;
  incoming_t in = {.begun = false};
  bool complete = false;
  while (!complete) {
    nlr_jump_callback_node_t release;
    exchange_hold_step(&release);
    wait(kind_receive, from, NULL, from, &in, &complete);
    exchange_release_step();
  }
  const uint32_t sender = pairs.expected;
  pairs.expected = kNobody;
  const mp_obj_t object = taken_in(&in);
  return any ? mp_obj_new_tuple(2, (mp_obj_t[]){MP_OBJ_NEW_SMALL_INT(sender), object}) : object;
}
static MP_DEFINE_CONST_FUN_OBJ_VAR_BETWEEN(recv_obj, 0, 1, recv);

bool exchange_has_unsent(void) { return outbox() != NULL; }

void exchange_flush(void) {
  while (exchange_has_unsent()) {
    nlr_jump_callback_node_t release;
    exchange_hold_step(&release);
    const struct exchange_control control = wait(kind_flush, 0, NULL, 0, NULL, NULL);
    exchange_release_step();
    if (control.operation == exchange_stop) return;
  }
}

// --- the module -------------------------------------------------------------------------------------------------------

static mp_obj_t longyield(void) {
  host_longyield();
  return mp_const_none;
}
static MP_DEFINE_CONST_FUN_OBJ_0(longyield_obj, longyield);
static mp_obj_t syscall(void) {
  host_syscall();
  return mp_const_none;
}
static MP_DEFINE_CONST_FUN_OBJ_0(syscall_obj, syscall);

enum { kFirstInModuleOnly = 10 };
static const mp_rom_map_elem_t tile_globals_table[] = {
    {MP_ROM_QSTR(MP_QSTR___name__), MP_ROM_QSTR(MP_QSTR_tile)},
    {MP_ROM_QSTR(MP_QSTR_alltoall), MP_ROM_PTR(&allgather_obj)},
    {MP_ROM_QSTR(MP_QSTR_allgather), MP_ROM_PTR(&allgather_obj)},
    {MP_ROM_QSTR(MP_QSTR_broadcast), MP_ROM_PTR(&broadcast_obj)},
    {MP_ROM_QSTR(MP_QSTR_reduce), MP_ROM_PTR(&reduce_obj)},
    {MP_ROM_QSTR(MP_QSTR_allreduce), MP_ROM_PTR(&allreduce_obj)},
    {MP_ROM_QSTR(MP_QSTR_barrier), MP_ROM_PTR(&barrier_obj)},
    {MP_ROM_QSTR(MP_QSTR_send), MP_ROM_PTR(&send_obj)},
    {MP_ROM_QSTR(MP_QSTR_recv), MP_ROM_PTR(&recv_obj)},
    {MP_ROM_QSTR(MP_QSTR_longyield), MP_ROM_PTR(&longyield_obj)},
    {MP_ROM_QSTR(MP_QSTR_syscall), MP_ROM_PTR(&syscall_obj)},
    {MP_ROM_QSTR(MP_QSTR_TensorBlockDevice), MP_ROM_PTR(&tensor_device_type)},
    {MP_ROM_QSTR(MP_QSTR_RemoteBlockDevice), MP_ROM_PTR(&remote_device_type)},
    {MP_ROM_QSTR(MP_QSTR_disk), MP_ROM_PTR(&disk_obj)},
};
static MP_DEFINE_CONST_DICT(tile_globals, tile_globals_table);
const mp_obj_module_t tile_module = {.base = {&mp_type_module}, .globals = (mp_obj_dict_t *)&tile_globals};
MP_REGISTER_MODULE(MP_QSTR_tile, tile_module);

// The exchange functions are there without an import, as print() is.
void exchange_init(void) {
  MP_STATE_VM(outbox) = NULL;
  in_operation = false;
  holds_step = false;
  pairs.matched = NULL;
  pairs.expected = kNobody;
  pairs.cursor = 0;
  for (size_t i = 1; i < kFirstInModuleOnly; i++)
    mp_store_global(mp_obj_str_get_qstr(MP_OBJ_FROM_PTR(tile_globals_table[i].key)), MP_OBJ_FROM_PTR(tile_globals_table[i].value));
}
