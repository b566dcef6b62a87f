"""A word of the glossary that names a type names one: `Piece`, `Plan` and `Access` are so general that a second type takes them easily."""
import re

import checking

# The type of each, by its file. Others say what they are of: ReductionPlan, ShardAccess.
TYPES = {
    "Piece": "src/transform/distribute/parallelise.h",
    "Plan": "src/compile/plan.h",
    "Access": "src/facade/state/state.h",
}
# Names of the public API of others.
PUBLIC = {"include/popnn/CTCPlan.hpp"}
NAMES = "|".join(TYPES)
# A definition or an alias; `struct Plan;` alone says that there is one.
DEFINITION = re.compile(
    rf"^(?P<code>[^/\"\n]*)(?:\b(?:struct|class|union|enum(?:\s+(?:class|struct))?)\s+(?:[A-Z_]+\s+)?(?P<type>{NAMES})\b\s*(?:final\s*)?(?::(?!:)|{{)"
    rf"|\busing\s+(?P<alias>{NAMES})\s*=|\btypedef\b[^;\n]*\b(?P<typedef>{NAMES})\s*;)", re.MULTILINE)
SOURCE = re.compile(r"^(src|include|python|bench|tests)/.*\.(h|hpp|cpp)$")


def check(tree):
    messages = []
    for path, text in tree.items():
        if not SOURCE.match(path) or path in PUBLIC:
            continue
        for m in DEFINITION.finditer(text):
            name = m.group("type") or m.group("alias") or m.group("typedef")
            if path != TYPES[name]:
                line = checking.line_of(text, m.end("code"))
                messages.append(f"{path}:{line}: a second type named {name} (the first: {TYPES[name]}); say what this one is of")
    return messages


CLEAN = {
    "src/compile/plan.h": "struct Plan {\n  int a;\n};\n",
    "include/popnn/CTCPlan.hpp": "class POPLAR_EXPORT Plan {",
    "src/poplibs/ctc_plan.h": "class Plan::Impl {",
    "src/compile/resolve.h": "struct Plan;\nclass Resolver {\n  const Plan& plan_;\n};\n// A class Plan: what is said in words\n",
    "src/facade/state/state.h": "struct Access {};",
    "include/poplar/Export.hpp": "struct Access;",
    "src/planning/product.h": "struct ProductPlan {};\nenum class AccessKind { read };\nfriend struct pando::facade::Access;\n",
}
CASES = [
    ({"src/poplibs/a.h": "\nstruct Plan {"}, "src/poplibs/a.h:2: a second type named Plan (the first: src/compile/plan.h)"),
    ({"src/poplibs/a.h": "using Plan = pando::planning::ProductPlan;"}, "src/poplibs/a.h:1: a second type named Plan"),
    ({"src/graph/a.h": "class Piece final : public Part {"}, "src/graph/a.h:1: a second type named Piece"),
    ({"src/graph/a.cpp": "  struct Piece\n  {"}, "src/graph/a.cpp:1: a second type named Piece"),
    ({"src/compile/a.h": "enum class Access : char { read };"}, "src/compile/a.h:1: a second type named Access"),
    ({"python/native/a.cpp": "typedef std::pair<int, int> Access;"}, "python/native/a.cpp:1: a second type named Access"),
]

if __name__ == "__main__":
    checking.run("check_words", check, CASES, CLEAN)
