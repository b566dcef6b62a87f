"""Rows of the misuse table: a call of each public function of the headers, whose arguments are made at random.
generate_rows.py OUT HEADER_FOLDER LIBRARY...; with --list it prints the names. A function that it leaves out is named in left_out.txt."""
import os
import sys

from public_functions import functions_of

HERE = os.path.dirname(os.path.abspath(__file__))
# Headers that only codelets see.
DEVICE = {"Vertex.hpp", "VectorTypes.hpp", "InOutTypes.hpp", "tile.hpp", "python.hpp", "TileConstants.hpp", "AvailableVTypes.h", "HalfMath.hpp", "QuarterFloat.hpp", "QuarterEdges.hpp",
          "IeeeHalf.hpp", "HalfFloat.hpp", "Quarter.hpp", "Loops.hpp", "StackSizeDefs.hpp", "cyclesTables.hpp", "Alignment.hpp", "VectorLayout.hpp"}


def headers(folder, libraries):
    for library in libraries:
        for name in sorted(os.listdir(os.path.join(folder, library))):
            if name.endswith(".hpp") and name not in DEVICE:
                yield library, name


def full_name(f):
    return "::".join(n for n in (f["space"], f["class"], f["name"]) if n)


def left_out():
    """Lines of "NAME: why". A trailing :: leaves out a class or namespace."""
    with open(os.path.join(HERE, "left_out.txt")) as lines:
        return [line.split(": ")[0].strip() for line in lines if line.strip() and not line.startswith("#")]


def is_left_out(name, left):
    return any(name == l or (l.endswith("::") and name.startswith(l)) for l in left)


def row(f):
    types, name = ", ".join(f["parameters"]), full_name(f)
    label = "%s(%s)" % (name, types.replace('"', '\\"'))
    if f["constructor"]:
        return 'add_constructor<%s>(rows, "%s");' % (", ".join([f["class"]] + f["parameters"]), label)
    if f["class"] and not f["static"]:
        kind = "%s (%s::*)(%s)%s" % (f["result"], f["class"], types, " const" if f["const"] else "")
        return 'add_method<%s>(rows, "%s", static_cast<%s>(&%s::%s));' % (f["class"], label, kind, f["class"], f["name"])
    place = f["class"] + "::" + f["name"] if f["class"] else f["name"]
    return 'add_function(rows, "%s", static_cast<%s (*)(%s)>(&%s));' % (label, f["result"], types, place)


def main():
    listing = sys.argv[1] == "--list"
    out, folder, libraries = sys.argv[1], sys.argv[2], sys.argv[3:]
    left, used, seen, texts, includes = left_out(), set(), set(), [], []
    for library, header in headers(folder, libraries):
        includes.append('#include <%s/%s>' % (library, header))
        with open(os.path.join(folder, library, header)) as file:
            found = functions_of(file.read())
        for f in found:
            name = full_name(f)
            why = [l for l in left if name == l or (l.endswith("::") and name.startswith(l))]
            used.update(why)
            # Within the class, and those around it, its parameters' types have the names that the header gives them.
            path = f["class"].split("::") if f["class"] else []
            within = " : " + ", ".join("::".join(path[:n]) for n in range(len(path), 0, -1)) if path else ""
            text = "namespace %s {\nstruct MisuseRow%d%s { static void add(std::vector<misuse::Row>& rows) { misuse::%s } };\n}\n" % (
                f["space"] or "misuse", len(texts), within, row(f))
            if why or (f["space"], row(f)) in seen:
                continue
            seen.add((f["space"], row(f)))
            texts.append((f["space"], text, name))
    unused = [l for l in left if l not in used]
    if unused:
        sys.exit("tests/misuse/left_out.txt names what is in no header: " + ", ".join(unused))
    if listing:
        print("\n".join(name for _, _, name in texts))
        return
    parts = 6
    for part in range(parts):
        mine = list(enumerate(texts))[part::parts]
        with open("%s.%d.cpp" % (out, part), "w") as file:
            file.write("// Made by tests/misuse/generate_rows.py.\n" + "\n".join(includes) + '\n\n#include "misuse/world.h"\n\n')
            for _, (space, text, _) in mine:
                file.write(text)
            file.write("namespace misuse {\nvoid add_rows_%d(std::vector<Row>& rows) {\n" % part)
            for i, (space, _, _) in mine:
                file.write("  %s::MisuseRow%d::add(rows);\n" % ("::" + space if space else "misuse", i))
            file.write("}\n}\n")


if __name__ == "__main__":
    main()
