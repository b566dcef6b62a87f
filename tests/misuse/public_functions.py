"""The public functions of headers, as text: namespace, class, name, return type, parameters. What it cannot read is an error, not left out."""
import re

# Words before a declaration that say nothing of its type.
NOISE = re.compile(r"\b(POPLAR_EXPORT|PANDO_MODEL_EXPORT|POPLAR_NO_DISCARD|inline|static|virtual|explicit|constexpr|friend|\[\[nodiscard\]\]|extern)\b|\[\[[^\]]*\]\]|__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)")


def without_comments(text):
    text = re.sub(r'//[^\n]*|/\*.*?\*/', '', text, flags=re.S)
    text = re.sub(r'"(?:\\.|[^"\\])*"', '""', text)
    return re.sub(r"^[ \t]*#(?:[^\\\n]|\\\n|\\.)*", "", text, flags=re.M)


def split_top(text, separator=","):
    parts, depth, begin = [], 0, 0
    for i, c in enumerate(text):
        if c in "<([{":
            depth += 1
        elif c in ">)]}" and not (c == ">" and i and text[i - 1] == "-"):
            depth -= 1
        elif c == separator and depth == 0:
            parts.append(text[begin:i])
            begin = i + 1
    parts.append(text[begin:])
    return [p.strip() for p in parts if p.strip()]


def type_of(parameter):
    parameter = split_top(parameter, "=")[0].strip()
    words = re.match(r"^(.*?)(?<![\w:])([A-Za-z_]\w*)$", parameter, re.S)
    kinds = {"int", "unsigned", "bool", "float", "double", "char", "long", "short", "const", "size_t"}
    if words and words.group(1).strip() and words.group(2) not in kinds and words.group(1).strip() != "const":
        parameter = words.group(1)
    return re.sub(r"\s+", " ", parameter).strip()


def matching(text, at):
    """After the bracket that closes the one at `at`."""
    depth = 0
    for i in range(at, len(text)):
        depth += text[i] in "({["
        depth -= text[i] in ")}]"
        if depth == 0:
            return i + 1
    raise ValueError("brackets")


class Reader:
    def __init__(self, text):
        self.text = without_comments(text)
        self.found = []

    def read(self):
        self.block(0, len(self.text), [], None, True)
        return self.found

    def block(self, begin, end, spaces, cls, public):
        at = begin
        while at < end:
            rest = self.text[at:end]
            if found := re.match(r"\s+|;", rest):
                at += found.end()
            elif found := re.match(r"(public|private|protected)\s*:(?!:)", rest):
                public = found.group(1) == "public"
                at += found.end()
            else:
                at = self.declaration(at, end, spaces, cls, public)

    def declaration(self, at, end, spaces, cls, public):
        """Takes one declaration; returns where it ends."""
        i, depth, angle = at, 0, 0
        while i < end:
            c = self.text[i]
            if c == "(":
                i = matching(self.text, i)
                continue
            if c == "{":
                close = matching(self.text, i)
                self.braced(at, i, close - 1, spaces, cls, public)
                after = re.match(r"\s*(?:[\w\s,*&=()]*)?;", self.text[close:end]) if self.is_type(self.text[at:i]) else None
                return close + (after.end() if after else 0)
            if c == ";":
                self.flat(self.text[at:i], spaces, cls, public)
                return i + 1
            i += 1
        return end

    @staticmethod
    def is_type(head):
        return bool(re.match(r"\s*(?:template\s*<.*>\s*)?(?:typedef\s+)?(class|struct|enum|union)\b", head, re.S))

    def braced(self, at, open_, close, spaces, cls, public):
        head = NOISE.sub("", self.text[at:open_]).strip()
        if found := re.match(r"namespace\s*([\w:]*)$", head):
            self.block(open_ + 1, close, spaces + [n for n in found.group(1).split("::") if n], None, True)
        elif re.match(r'extern\s*""|""', head):
            self.block(open_ + 1, close, spaces, None, True)
        elif found := re.match(r"(class|struct)\s+(\w+)", head):
            if "template" not in head and "<" not in head.split(":")[0]:
                name = found.group(2) if cls is None else cls + "::" + found.group(2)
                if public:
                    self.block(open_ + 1, close, spaces, name, found.group(1) == "struct")
        else:
            self.flat(self.text[at:open_], spaces, cls, public)

    def flat(self, text, spaces, cls, public):
        is_friend = "friend" in text
        is_static = cls is not None and re.search(r"\bstatic\b", text) is not None
        text = re.sub(r"\s+", " ", NOISE.sub("", text)).strip()
        if not public or is_friend or "(" not in text or re.match(r"(using|typedef|template|static_assert|enum|class|struct)\b", text):
            return
        if text.endswith("= delete") or "detail" in "::".join(spaces) or "core" in spaces or re.search(r"\boperator\b", text) or "~" in text:
            return
        open_ = text.index("(")
        head, close = text[:open_].strip(), matching(text, open_)
        tail = text[close:].strip()
        name = re.search(r"([\w]+)$", head)
        if not name or "=" in head:
            return
        result = head[:name.start()].strip()
        constructor = cls is not None and name.group(1) == cls.split("::")[-1] and not result
        if not result and not constructor:
            return
        parameters = [type_of(p) for p in split_top(text[open_ + 1:close - 1]) if p != "void"]
        if any(re.match(r"[-\d]", p) for p in parameters):
            return  # a constant that is initialised
        self.found.append({
            "space": "::".join(spaces), "class": cls, "name": name.group(1), "result": result, "constructor": constructor, "static": is_static,
            "const": bool(re.match(r"const\b", tail)), "parameters": parameters})


def functions_of(text):
    return Reader(text).read()
