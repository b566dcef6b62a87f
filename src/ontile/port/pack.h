// Objects as bytes: what goes from tile to tile. Compact, and the same on every tile.
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "py/obj.h"

// A message: `head`, then `raw` bytes that lie somewhere else (the items of an array).
typedef struct _message_t {
  vstr_t head;
  const char *raw;
  uint32_t raw_bytes;
  mp_obj_t keeps_raw;  // the object whose items they are
} message_t;

static inline uint32_t message_bytes(const message_t *message) { return message->head.len + message->raw_bytes; }

// Raises TypeError for what cannot be sent (generators, open files, functions without a name ...), RuntimeError for what
// is nested too deeply or contains itself.
void pack(message_t *message, mp_obj_t object);
// An array alone is a head of `*head_bytes` and raw items: where these go, for a message that starts with [bytes, bytes + count).
// Returns the new object, or MP_OBJ_NULL if the message is no such array.
mp_obj_t unpack_array_head(const char *bytes, uint32_t count, uint32_t message_bytes, uint32_t *head_bytes, char **items);
// The object of a whole message.
mp_obj_t unpack(const char *bytes, uint32_t count);
