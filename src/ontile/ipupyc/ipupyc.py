# Inline Python in C++ codelets: what src/popc/vertices/inline_python.cpp does, as a program that also runs on a tile (MicroPython).
#
#   preprocess(source)      the source with its "#pragma IPUpy_start" blocks replaced by calls of libIPUpy.hpp, in as many lines
#
# Raises ValueError("LINE: what is wrong"), in the words of popc.

HEADER = "#include <poplar/Vertex.hpp>\n#include <libIPUpy.hpp>\n#line 1\n"
SPACE = " \t\r"
TYPES = {"int": "i", "float": "f", "char": "b"}


def fail(line, what):
    raise ValueError("{}: {}".format(line, what))


def pragma_of(line):
    """The name of the pragma that the line is, and what follows it."""
    text = line.strip(SPACE)
    if not text.startswith("#pragma"):
        return "", ""
    text = text[7:]
    after = text.strip(SPACE)
    if after == text:
        return "", ""
    end = 0
    while end < len(after) and after[end] not in SPACE:
        end += 1
    return after[:end], after[end:].strip(SPACE)


def is_name(text):
    for i, c in enumerate(text):
        letter = "a" <= c <= "z" or "A" <= c <= "Z" or c == "_"
        if not letter and (i == 0 or not "0" <= c <= "9"):
            return False
    return text != ""


def parse_operand(item, line):
    equals = item.find("=")
    name = (item if equals < 0 else item[:equals]).strip(SPACE)
    field = (item if equals < 0 else item[equals + 1:]).strip(SPACE)
    code = "i"
    if field.endswith(">"):
        start = field.rfind("<")
        if start < 0:
            fail(line, "'" + field + "': '<' is missing")
        kind = field[start + 1:-1].strip(SPACE)
        if kind not in TYPES:
            fail(line, "unknown type '" + kind + "'; known: int, float, char")
        code = TYPES[kind]
        field = field[:start].strip(SPACE)
        if equals < 0:
            name = field
    if not is_name(name):
        fail(line, "'" + name + "' is no name of a Python variable")
    if not field:
        fail(line, "'" + name + "=' names no field")
    return name, field, code


def opening(text, line):
    """The calls before the Python text."""
    if len(text) < 2 or text[0] != "[" or text[-1] != "]":
        fail(line, "expected '[name=field<type>, ...]' after IPUpy_start, found '" + text + "'")
    stdout = "0, 0"
    arrays = ""
    inner = text[1:-1].strip(SPACE)
    for item in inner.split(",") if inner else []:
        name, field, code = parse_operand(item, line)
        memory = "&" + field + "[0], " + field + ".size()"
        if name == "stdout":
            stdout = "(char *)" + memory
        else:
            arrays += 'IPUpy_add_memory_as_array("' + name + '", (void *)' + memory + ", '" + code + "'); "
    return ("{ IPUpy_set_stdout(" + stdout + "); IPUpy_init((char *)__builtin_frame_address(0)); " + arrays
            + 'IPUpy_do_str(""')


def quoted(python):
    return '"' + python.replace("\\", "\\\\").replace('"', '\\"') + '\\n"'


def expanded_lines(source):
    """One line of C++ for each line of the source."""
    began = 0
    indent = ""
    number = 0
    for line in source.split("\n"):
        number += 1
        pragma, rest = pragma_of(line)
        if pragma == "IPUpy_start":
            if began:
                fail(number, "IPUpy_start inside the block that begins at line " + str(began))
            began = number
            indent = line[:line.find("#")]
            yield indent + opening(rest, number)
        elif pragma == "IPUpy_end":
            if not began:
                fail(number, "IPUpy_end without IPUpy_start")
            began = 0
            yield indent + ", 0); IPUpy_deinit(); }"
        elif not began:
            yield line
        else:
            blank = line.strip(SPACE) == ""
            if not blank and not line.startswith(indent):
                fail(number, "indented less than the block's #pragma")
            python = "" if blank else line[len(indent):]
            yield indent + quoted(python[:-1] if python.endswith("\r") else python)
    if began:
        fail(began, "IPUpy_start without IPUpy_end")


def preprocess(source):
    return HEADER + "\n".join(expanded_lines(source))
