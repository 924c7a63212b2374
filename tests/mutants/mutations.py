"""One-line faults of C sources, and their selection by a seed."""
import os
import random
import re

SWAPS = [
    (r"(?<![<>=!\-&|+*/%^])<(?![<=])", "<", "<="),
    (r"(?<![<>=!\-])>(?![>=])", ">", ">="),
    (r"(?<!<)<=", "<=", "<"),
    (r"(?<!>)>=", ">=", ">"),
    (r"==", "==", "!="),
    (r"!=", "!=", "=="),
    (r"&&", "&&", "||"),
    (r"\|\|", "||", "&&"),
    (r" \+ ", " + ", " - "),
    (r" - ", " - ", " + "),
    (r"\+=", "+=", "-="),
    (r"-=", "-=", "+="),
    (r"\+\+", "++", "--"),
    (r"(?<!-)--(?!-)", "--", "++"),
    (r"<<(?!=)", "<<", ">>"),
    (r">>(?!=)", ">>", "<<"),
    (r" \| ", " | ", " & "),
    (r" & ", " & ", " | "),
    (r"\btrue\b", "true", "false"),
    (r"\bfalse\b", "false", "true"),
]
NUMBER = re.compile(r"(?<![\w.\"'])(\d+)(?![\w.xX\"'])")
CONDITION = re.compile(r"\b(if|while) \((.*)\)( \{)?$")
STATEMENT = re.compile(r"^\s+[^\s].*;$")
NOT_DROPPED = re.compile(r"^\s+(return|break|continue|goto|case|default|static|const|struct|enum|union|typedef)\b")
HEAD = re.compile(r"^\s*(\} )?(else )?(if|for|while) \(.*\)$|^\s*(\} )?else$")
ASSERTION = re.compile(r"\b(assert|_Static_assert|static_assert)\s*\(")


def blank_text(source):
    """The source with comments, strings and character constants replaced by spaces, so that columns are unchanged."""
    pattern = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
    return pattern.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), source)


def changes_of(code, line, may_drop):
    """Every fault for one line: (description, new line). CODE is LINE without text."""
    found = []
    for pattern, old, new in SWAPS:
        for m in re.finditer(pattern, code):
            found.append((f"{old.strip()} -> {new.strip()}", line[: m.start()] + new + line[m.end():]))
    for m in NUMBER.finditer(code):
        value = int(m.group(1))
        found.append((f"{value} -> {value + 1}", line[: m.start()] + str(value + 1) + line[m.end():]))
        if value > 1:
            found.append((f"{value} -> {value - 1}", line[: m.start()] + str(value - 1) + line[m.end():]))
    m = CONDITION.search(code)
    if m and code.count("(") == code.count(")"):
        found.append(("negated condition", line[: m.start(2)] + "!(" + line[m.start(2): m.end(2)] + ")" + line[m.end(2):]))
    if STATEMENT.match(code) and may_drop and not NOT_DROPPED.match(code) and code.count("(") == code.count(")"):
        found.append(("dropped statement", re.match(r"\s*", line).group() + ";"))
    return found


def mutants_of(path):
    """All faults of a file, by line number from 0: {number: (line, [(description, new line)])}."""
    with open(path) as file:
        source = file.read()
    lines, codes = source.split("\n"), blank_text(source).split("\n")
    result, may_drop, directive, depth = {}, True, False, 0
    for number, (line, code) in enumerate(zip(lines, codes)):
        directive = code.startswith("#") or (directive and lines[number - 1].endswith("\\"))
        # An assertion ends where its parentheses are closed.
        if depth > 0 or ASSERTION.search(code):
            depth += code.count("(") - code.count(")")
        elif not directive and code.startswith(" "):  # within a function or a table
            changes = changes_of(code, line, may_drop)
            if changes:
                result[number] = (line, changes)
        if code.strip():
            end = code.rstrip()
            may_drop = end.endswith((";", "{", "}", ":")) or bool(HEAD.match(end))
    return result


def sources(tops):
    """All C sources in these folders."""
    return sorted(os.path.join(folder, name) for top in tops for folder, _, names in os.walk(top)
                  for name in names if name.endswith(".c"))


def choose(files, seed):
    """Mutants in the order of a seed, at most one for each line, as dictionaries."""
    rng = random.Random(seed)
    places = [(path, number, before, changes) for path in files
              for number, (before, changes) in sorted(mutants_of(path).items())]
    rng.shuffle(places)
    for path, number, before, changes in places:
        what, after = rng.choice(changes)
        yield {"path": path, "line": number + 1, "what": what, "before": before.strip(), "after": after.strip()}


def place_again(mutant, files):
    """The same mutant at its present line: lines and files may have moved. None if it is not there, or twice."""
    found = []
    for path in files:
        with open(path) as file:
            lines = file.read().split("\n")
        found += [(path, number + 1) for number, line in enumerate(lines) if line.strip() == mutant["before"]]
    same_name = [f for f in found if os.path.basename(f[0]) == os.path.basename(mutant["path"])]
    found = same_name or found
    if not found:
        return None
    path, line = min(found, key=lambda f: (f[0] != mutant["path"], abs(f[1] - mutant["line"])))
    return {**mutant, "path": path, "line": line}


def with_change(source, mutant):
    """The source with the mutant; its indentation is unchanged."""
    lines = source.split("\n")
    old = lines[mutant["line"] - 1]
    assert old.strip() == mutant["before"], mutant
    lines[mutant["line"] - 1] = re.match(r"\s*", old).group() + mutant["after"]
    return "\n".join(lines)
