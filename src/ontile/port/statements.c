// Two statements of tiles that Python does not have:
//
//   longyield      leaves the vertex; the program goes on here when a later vertex comes back
//   ipusyscall     calls a function that the codelet has registered
//
// Each is a name on its own where a statement can stand. The parser gets `longyield()` instead: the brackets are put in between
// its lexer and itself (the linker's --wrap), so that every text that is compiled has them, at the prompt and in eval() too.
#include <string.h>

#include "py/lexer.h"
#include "py/parse.h"
#include "py/runtime.h"

#include "host.h"

static mp_obj_t statement_longyield(void) {
  host_longyield();
  return mp_const_none;
}
MP_DEFINE_CONST_FUN_OBJ_0(statement_longyield_obj, statement_longyield);

static mp_obj_t statement_ipusyscall(void) {
  host_syscall();
  return mp_const_none;
}
MP_DEFINE_CONST_FUN_OBJ_0(statement_ipusyscall_obj, statement_ipusyscall);

void __real_mp_lexer_to_next(mp_lexer_t *lexer);
mp_parse_tree_t __real_mp_parse(mp_lexer_t *lexer, mp_parse_input_kind_t kind);

// One text is parsed to its end before another one is.
static mp_token_kind_t before;  // the token before the one that the parser looks at
static mp_token_kind_t after;   // the token behind the brackets
static bool inserting;          // the parser looks at one of the brackets

static bool begins_statement(mp_token_kind_t before) {
  return before == MP_TOKEN_NEWLINE || before == MP_TOKEN_INDENT || before == MP_TOKEN_DEDENT || before == MP_TOKEN_DEL_COLON ||
         before == MP_TOKEN_DEL_SEMICOLON;
}
static bool ends_statement(mp_token_kind_t kind) {
  return kind == MP_TOKEN_NEWLINE || kind == MP_TOKEN_DEL_SEMICOLON || kind == MP_TOKEN_END || kind == MP_TOKEN_DEDENT;
}
static bool is_word(const mp_lexer_t *lexer, const char *word) {
  const size_t n = strlen(word);
  return lexer->vstr.len == n && memcmp(lexer->vstr.buf, word, n) == 0;
}

mp_parse_tree_t __wrap_mp_parse(mp_lexer_t *lexer, mp_parse_input_kind_t kind) {
  before = MP_TOKEN_NEWLINE;
  inserting = false;
  return __real_mp_parse(lexer, kind);
}

void __wrap_mp_lexer_to_next(mp_lexer_t *lexer) {
  if (inserting) {
    before = lexer->tok_kind;
    inserting = before == MP_TOKEN_DEL_PAREN_OPEN;
    lexer->tok_kind = inserting ? MP_TOKEN_DEL_PAREN_CLOSE : after;
    return;
  }
  const bool statement =
      lexer->tok_kind == MP_TOKEN_NAME && begins_statement(before) && (is_word(lexer, "longyield") || is_word(lexer, "ipusyscall"));
  before = lexer->tok_kind;
  __real_mp_lexer_to_next(lexer);
  if (!statement || !ends_statement(lexer->tok_kind)) return;
  inserting = true;
  after = lexer->tok_kind;
  lexer->tok_kind = MP_TOKEN_DEL_PAREN_OPEN;
}
