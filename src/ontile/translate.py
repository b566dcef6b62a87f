"""Turns the C that wasm2c wrote into the C that tiles run.

  translate.py python.c python.h -o interpreter.c

wasm2c gives each instance a struct with a memory, a table and its globals. Here the instance *is* the tile: the struct lies at
the first byte of the tile's memory, in the part that no program of the tile may touch, and the table is one constant for all. So
a load needs no other register than the tile's own. Calls and loops get the checks of runtime/interpreter_c.h. Each change
must find what it looks for: another wasm2c fails here, not at run time.
"""

import argparse
import hashlib
import re
import sys


# What runs at every bytecode and call, and writes to nothing but frames, objects and tables of its own: a store elsewhere ends the
# interpreter at once. Where a check may return, code around it is slower by a tenth.
WRITES_ITS_OWN = (
    "vm_loop", "fun_bc_call", "mp_setup_code_state", "mp_execute_bytecode", "mp_call_function_n_kw", "mp_call_method_n_kw", "closure_call",
    "bound_meth_call", "gen_wrap_call", "mp_obj_gen_resume", "gen_instance_iternext", "mp_iternext", "range_it_iternext", "gc_alloc", "m_malloc",
    "mp_map_lookup", "mp_load_attr", "mp_load_method", "mp_load_method_maybe", "mp_load_global", "mp_obj_new_tuple", "mp_obj_new_list",
    "mp_obj_new_exception", "nlr_push_tail", "nlr_pop", "nlr_jump",
)

# Whose loops are not counted: of the loop over bytecodes Python's own rounds are, where it calls host_tick; looking up ends with the table.
ENDS_SOON = ("vm_loop", "__wrap_mp_map_lookup")


def fail(text):
    sys.exit(f"translate.py: {text}")


def replace(text, pattern, replacement, what, at_least=1, at_most=None):
    text, count = re.subn(pattern, replacement, text, flags=re.S | re.M)
    if count < at_least or (at_most is not None and count > at_most):
        fail(f"{what}: found {count} places, expected {at_least} to {at_most or 'any number'}")
    return text


def in_function(code, name, change):
    body = re.search(r"^(?:static )?\w+ w2c_%s\([^;{]*\{.*?^\}" % name, code, flags=re.S | re.M)
    if not body:
        fail(f"no function {name}")
    return code[:body.start()] + change(body[0]) + code[body.end():]


def translate(code, header):
    code = replace(code, r'#include "[a-z]+\.h"\n', '#include "runtime/interpreter_c.h"\n', "the generated header", 1, 1)
    # The preamble's memory, tables and checks are ours.
    code = replace(code, r"^#define TRAP\(x\).*?(?=^#if defined\(_MSC_VER\)\n\n// Adapted)", "", "the preamble's checks", 1, 1)
    code = replace(code, r"^static inline void memory_fill.*?^static u32 func_types\[\d+\];", "", "the preamble's memory and tables", 1, 1)
    code = replace(code, r"^static void init_func_types\(void\) \{.*?^\}", "", "function types", 1, 1)
    # Life cycle: the image takes its place.
    data = re.search(r"LOAD_DATA\(instance->w2c_memory, (\d+)u, (\w+), (\d+)\);", code)
    if not data or len(re.findall(r"LOAD_DATA\(", code)) != 1:
        fail("expected one data segment")
    table = re.search(r"wasm_rt_allocate_funcref_table\(&instance->w2c_T0, (\d+),", code)
    elements = re.search(r"funcref_table_init\(&instance->w2c_T0, (\w+), (\d+), (\d+)u, 0, (\d+), instance, func_types\);", code)
    pages = re.search(r"wasm_rt_allocate_memory\(&instance->w2c_memory, (\d+),", code)
    stack = re.search(r"instance->w2c___stack_pointer = (\d+)u;", code)
    if not (table and elements and pages and stack):
        fail("no table, memory or stack pointer where they are made")
    for name in ("init_globals", "init_memories", "init_data_instances", "init_tables", "init_elem_instances"):
        code = replace(code, r"^static void %s\(Z_\w+_instance_t ?\*\s?instance\) \{.*?^\}\n" % name, "", name, 1, 1)
        code = replace(code, r"^static void %s\(Z_\w+_instance_t ?\*.*?;\n" % name, "", name, 0, 1)
    code = replace(code, r"^static void init_instance_import.*", "", "the end", 1, 1)

    code = replace(code, r"^/\* export: 'memory' \*/.*?^\}\n", "", "the memory's export", 1, 1)
    code = replace(code, r"^static const wasm_elem_segment_expr_t (\w+)\[\] = \{", r"static const struct TableEntry \1[] = {", "the table", 1, 1)
    code = replace(code, r"\{(\d+), \(wasm_rt_function_ptr_t\)&?(\w+), [^}]*\}", r"{\1 + 1, (void *)&\2}", "entries of the table", 100)
    # Every use.
    code = replace(code, r"&instance->w2c_memory", "instance", "loads and stores", 1000)
    code = replace(code, r"instance->w2c_T0\.data\[w2c_\w+\]\.module_instance", "instance", "indirect calls", 10)
    code = replace(code, r"CALL_INDIRECT\(instance->w2c_T0, ", "CALL_INDIRECT(", "indirect calls", 10)
    code = replace(code, r"instance->Z_(env|host)_instance", "instance", "imports", 10)
    code = replace(code, r"instance->w2c___stack_pointer", "instance->stack_pointer", "the stack pointer", 100)
    code = replace(code, r"instance->stack_pointer = (w2c_\w+);", r"SET_STACK_POINTER(instance, \1);", "changes of the stack pointer", 100)
    code = replace(code, r"^(\s*)FUNC_PROLOGUE;", r"\1ENTER(instance);", "functions", 500)
    code = replace(code, r"^\s*FUNC_EPILOGUE;\n", "", "functions", 500)
    code = replace(code, r"^(\s*w2c_L\d+:)\s*$", r"\1 LOOP(instance);", "loops", 100)
    for name in ENDS_SOON:
        code = in_function(code, name, lambda body: body.replace(" LOOP(instance);", ""))
    for name in WRITES_ITS_OWN:
        code = in_function(code, name, lambda body: re.sub(r"\b(?=[if]\d\d_store)", "own_", body))
    code = replace(code, r"\(\*Z_hostZ_tick\)\(instance\);|\bZ_hostZ_tick\(instance\);", "LOOP(instance);", "rounds of Python loops", 1)
    code = replace(code, r"\bZ_\w+_instance_t\b", "struct TileInterpreter", "the instance", 500)
    for left in (r"\bw2c_memory\b", r"\bwasm_rt_\w+", r"\bfunc_types\b", r"FUNC_PROLOGUE"):
        found = re.search(left, code)
        if found:
            fail(f"{left} is left: {code[found.start() - 100:found.end() + 100]}")

    imports = re.findall(r"^/\* import: '\w+' '\S+' \*/\n(.*?;)\n", header, flags=re.S | re.M)
    if len(imports) < 10:
        fail("no imports in the header")
    declarations = "\n".join(imports)
    declarations = re.sub(r"struct Z_(env|host)_instance_t\*", "struct TileInterpreter *", declarations)
    # An entry 0 keeps the null function pointer uncallable: the table holds entries 1 and up.
    if int(elements[3]) != 1 or int(elements[2]) + 1 != int(table[1]):
        fail("expected a table of all elements behind one empty entry")
    first = '#include "runtime/interpreter_c.h"\n'
    code = code.replace(first, f"""{first}
{declarations}

static const struct TableEntry {elements[1]}[{elements[2]}];
#define FUNCTION_TABLE {elements[1]}
#define FUNCTION_TABLE_SIZE {elements[2]}u
""", 1)
    version = hashlib.sha256(code.encode()).hexdigest()[:16]
    code += f"""
const char *const interpreter_version = "{version}";
const struct TableEntry *const interpreter_table = {elements[1]};
const u32 interpreter_table_size = {elements[2]}u;
const struct InterpreterImage interpreter_image = {{{data[2]}, {data[1]}u, {data[3]}u, {stack[1]}u}};
"""
    return code


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("code")
    parser.add_argument("header")
    parser.add_argument("-o", required=True)
    arguments = parser.parse_args()
    with open(arguments.code) as code, open(arguments.header) as header:
        text = translate(code.read(), header.read())
    with open(arguments.o, "w") as out:
        out.write(text)


if __name__ == "__main__":
    main()
