# Finds what can be mutated in a C++ source by its tokens alone: the sources are clang-formatted, so that a binary operator has a space
# on each side and nothing else has.
import re
from dataclasses import dataclass, field

SWITCHES = {"+": ["Sum"], "-": ["Difference"], "*": ["Product"], "/": ["Quotient"], "%": ["Remainder"], "<": ["Less", "NotLess"],
            ">": ["More", "NotMore"], "<=": ["LessOrEqual"], ">=": ["MoreOrEqual"], "==": ["Equal"], "!=": ["Unequal"]}
BECOMES = {"Sum": "-", "Difference": "+", "Product": "/", "Quotient": "*", "Remainder": "*", "Less": "<=", "NotLess": ">=", "More": ">=",
           "NotMore": "<=", "LessOrEqual": "<", "MoreOrEqual": ">", "Equal": "!=", "Unequal": "=="}
NO_STATEMENT = ("return", "const", "auto", "if", "for", "while", "else", "case", "break", "throw", "using", "static", "delete", "default")


@dataclass
class Site:
    path: str
    line: int        # from 1
    column: int      # from 0, in the line
    kind: str        # the switch, or literal, condition, statement, …
    text: str        # the line, stripped: with path, kind and column it names the site also when lines move
    edits: list = field(default_factory=list)  # (offset in the file, length replaced, text with {n})

    def name(self):
        return f"{self.path}|{self.kind}|{self.text}|{self.column}"

    def shown(self):
        return f"{self.path}:{self.line}:{self.column + 1}: {BECOMES.get(self.kind, self.kind)}: {self.text}"


def blanked(text):
    """The same length, with comments, literals in quotes and preprocessor lines as blanks."""
    pattern = r'//[^\n]*|/\*.*?\*/|R"\((?:.*?)\)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'(?!\d)|^#[^\n]*'
    return re.sub(pattern, lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.S | re.M)


def without_constants(code):
    """constexpr declarations and static_asserts blanked: the compiler computes them."""
    code = re.sub(r"\b(constexpr|static_assert|template|using|enum)\b[^;{}]*(\{[^;]*\})?;", lambda m: re.sub(r"[^\n]", " ", m.group()), code)
    return code


def closing(code, at):
    depth = 0
    for i in range(at, len(code)):
        depth += (code[i] == "(") - (code[i] == ")")
        if depth == 0:
            return i
    return -1


def sites_of(path, text):
    code = without_constants(blanked(text))
    starts = [0] + [m.end() for m in re.finditer("\n", text)]
    lines = text.split("\n")
    found = []

    def add(offset, kind, edits):
        line = next_line(offset)
        start = starts[line]
        if lines[line].startswith(" "):  # inside of something
            found.append(Site(path, line + 1, offset - start, kind, lines[line].strip(), edits))

    def next_line(offset):
        low, high = 0, len(starts) - 1
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if starts[middle] <= offset else (low, middle - 1)
        return low

    for m in re.finditer(r"(?<=[\w)\]}]) (\+|-|\*|/|%|<|>|<=|>=|==|!=)(?=\s)", code):
        for kind in SWITCHES[m.group(1)]:
            add(m.start(1), kind, [(m.end(1), 0, " foretrain::mutant::%s<{n}>{{}} %s" % (kind, m.group(1)))])
    for m in re.finditer(r"(?<=[\w)\]}]) (&&|\|\|)(?=\s)", code):
        add(m.start(1), "flipped", [(m.end(1), 0, " foretrain::mutant::Flip<{n}>{{}} ^")])
    for m in re.finditer(r"\bif \(", code):
        end = closing(code, m.end() - 1)
        inside = code[m.end():end]
        if end > 0 and ";" not in inside and not re.search(r"[^=<>!]=[^=]", inside):
            add(m.start(), "condition", [(m.end(), 0, "foretrain::mutant::condition<{n}>("), (end, 0, ")")])
    for m in re.finditer(r"(?<![\w.'\]<>])(\d+\.\d+(?:e-?\d+)?|\d+)(?![\w.'>])", code):
        add(m.start(), "literal", [(m.start(), 0, "foretrain::mutant::literal<{n}>("), (m.end(), 0, ")")])
    for m in re.finditer(r"\bstd::(min|max)\(", code):
        add(m.start(), "max" if m.group(1) == "min" else "min", [(m.start(), m.end() - m.start(), "foretrain::mutant::%s<{n}>(" % m.group(1))])
    for m in re.finditer(r"(?<=[\w)\]]) (\+=|-=)(?= )", code):
        add(m.start(1), "negative", [(m.end(1), 0, " foretrain::mutant::Negative<{n}>{{}} =")])
    before = ""
    for number, start in enumerate(starts):
        line = code[start:start + len(lines[number])]
        m = re.match(r"\s+([A-Za-z_][\w.\[\]>-]*(?:\([^()]*\))?[\w.>-]*)\s?(=|\+=|-=|\*=|/=|\(|\+\+)", line)
        whole = line.rstrip().endswith(";") and line.count("(") == line.count(")") and line.count("{") == line.count("}")
        if m and whole and before.rstrip()[-1:] in ";{}" and not line.strip().startswith(NO_STATEMENT):
            at = start + len(line) - len(line.lstrip())
            add(at, "statement", [(at, 0, "if (foretrain::mutant::kept<{n}>()) ")])
        if line.strip():
            before = line
    return found


def instrumented(text, numbered):
    """`numbered`: pairs of number and site. The first line, a comment, makes place for the include, so that lines stay where they are."""
    edits = sorted(((offset, length, new.format(n=n)) for n, site in numbered for offset, length, new in site.edits), reverse=True)
    for offset, length, new in edits:
        text = text[:offset] + new + text[offset + length:]
    assert text.startswith("//")
    return '#include "tests/mutation/mutant.hpp"' + text[text.index("\n"):]
