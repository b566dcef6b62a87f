// The functions that the translated interpreter exports, and those that it imports (translate.py declares them in its C).
#pragma once

#include "runtime/interpreter_c.h"

extern "C" {
extern const TableEntry* const interpreter_table;
extern const u32 interpreter_table_size;
extern const char* const interpreter_version;

void Z_pythonZ___wasm_call_ctors(TileInterpreter*);
void Z_pythonZ_setThrew(TileInterpreter*, u32, u32);
void Z_pythonZ_py_gc_mark(TileInterpreter*, u32);
u32 Z_pythonZ_py_heap_begin(TileInterpreter*);
void Z_pythonZ_py_boot(TileInterpreter*, u32);
void Z_pythonZ_py_shut_down(TileInterpreter*);
u32 Z_pythonZ_py_allocate(TileInterpreter*, u32);
u32 Z_pythonZ_py_allocated(TileInterpreter*);
void Z_pythonZ_py_release(TileInterpreter*);
u32 Z_pythonZ_py_no_room(TileInterpreter*, u32);
void Z_pythonZ_py_flush(TileInterpreter*);
u32 Z_pythonZ_py_run(TileInterpreter*, u32, u32, u32, u32, u32);
void Z_pythonZ_py_finalise(TileInterpreter*, u32);
u32 Z_pythonZ_py_exit_status(TileInterpreter*);
void Z_pythonZ_py_set_int(TileInterpreter*, u32, u32, u32);
void Z_pythonZ_py_set_text(TileInterpreter*, u32, u32, u32, u32);
void Z_pythonZ_py_set_view(TileInterpreter*, u32, u32, u32, u32, u32, u32);
void Z_pythonZ_py_drop_views(TileInterpreter*);
void Z_pythonZ_py_set_disk(TileInterpreter*, u32, u32, u32);
void Z_pythonZ_py_set_array(TileInterpreter*, u32, u32, u32, u32, u32);
void Z_pythonZ_py_repl_start(TileInterpreter*);
u32 Z_pythonZ_py_repl_key(TileInterpreter*, u32);
u32 Z_pythonZ_py_is_complete(TileInterpreter*, u32);
u32 Z_pythonZ_py_complete(TileInterpreter*, u32, u32, u32);
void Z_pythonZ_py_interrupt(TileInterpreter*);
u32 Z_pythonZ_py_is_interrupted(TileInterpreter*);
u32 Z_pythonZ_py_holds_step(TileInterpreter*);
}
