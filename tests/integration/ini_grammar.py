"""Random inis of uWSGI's whole dialect, for a differential test. Left out is what ccontainer does
otherwise on purpose (docs/configuration.md): names that lead back to themselves, "%" at a line's
end, else, unknown %-words."""

import os

ENVIRONMENT = ["CC_TEST_ONE", "CC_TEST_TWO", "CC_TEST_EMPTY", "CC_TEST_NOPE", "CC_TEST_NAME"]
WORDS = ["a", "b c", "7", "0", "-3", "x=y", "a;b", "a # b", "'q'", '"q"', "[s]", "(", ")", "é",
         "a,b", "/etc/passwd", "/nope", "1.5", "$", "@", "{}", "\t", "a:b"]
MAGIC = ["%n", "%x", "%%", "%e", "%c", "%k", "%u", "%N", "%X", "%j", "%0", "%1"]


class Writer:
    """Keys are k0, k1...: a value only names keys with a lower number, so that no name can lead
    back to itself."""

    def __init__(self, random, folder):
        self.random, self.folder = random, folder
        self.keys = 0
        self.files = 0

    def name(self, below):
        """A key to refer to."""
        if below == 0 or self.random.random() < 0.1:
            return "missing"
        return f"k{self.random.randrange(below)}"

    def sum(self, below):
        pick = self.random.choice
        terms = [pick(["1", "2", "10", self.name(below)])
                 for _ in range(self.random.randint(1, 3))]
        text = terms[0]
        for term in terms[1:]:
            blank = pick(["", " "])
            text += blank + pick("+-*/") + blank + term
        return text + pick(["", "", "++", "--"])

    def atom(self, below, item):
        pick, kind = self.random.choice, self.random.random()
        if kind < 0.45:
            return pick(WORDS)
        if kind < 0.6:
            return f"%({self.name(below)})"
        if kind < 0.7:
            return f"%({self.sum(below)})"
        if kind < 0.8:
            return f"$({pick(ENVIRONMENT)})"
        if kind < 0.85:
            return "@(parts/port.txt)"
        if kind < 0.9 and item:
            return "%(_)"
        return pick(MAGIC)

    def value(self, below, item):
        joined = self.random.choice(["", " ", "-"]).join(
            self.atom(below, item) for _ in range(self.random.randint(0, 4)))
        # A lone "%" would be a word with what follows it, or glue lines at the end.
        return joined

    def line(self, item=False):
        """An ordinary option, placeholder, comment or odd line."""
        kind, blank = self.random.random(), self.random.choice(["", " ", "  ", "\t"])
        key = f"k{self.keys}" if kind < 0.9 else f"k{self.random.randrange(self.keys + 1)}"
        below = int(key[1:])
        if kind < 0.05:
            return self.random.choice(["; %(k0)", "# = x", "", "   ", ";", "\t# a = b"])
        if kind < 0.1:
            return key
        if kind < 0.15 and not item:
            self.keys += key == f"k{self.keys}"
            return f"set-ph = {key}={self.value(0, False)}"
        self.keys += key == f"k{self.keys}"
        return f"{blank}{key}{blank}={blank}{self.value(below, item)}{blank}"

    def block(self):
        pick = self.random.choice
        words = " ".join(pick(["a", "b", "c d", "1", "", "x=y"]) for _ in range(3))
        negation = pick(["", "not-"])
        begin = pick([
            f"for = {words}",
            f"for-times = {pick(['0', '1', '3', 'x', '2x', '-1'])}",
            f"for-glob = {pick(['parts/*.txt', '/nope*', 'part?', '/etc/host*'])}",
            "for-readline = parts/rows.txt",
            f"if-{negation}env = {pick(ENVIRONMENT)}{pick(['', '=one', '=', '=x'])}",
            f"if-{negation}opt = {self.name(self.keys)}{pick(['', '=a', '=7', '='])}",
            f"if-{negation}exists = {pick(['parts', '/nope', 'parts/port.txt'])}",
            f"if-{negation}file = {pick(['parts', '/nope', 'parts/port.txt'])}",
            f"if-{negation}dir = {pick(['parts', '/nope', 'parts/port.txt'])}",
            f"if-{negation}hostname = {pick(['%h', 'nobody'])}",
            f"if-{negation}hostname-match = {pick(['^.', '^nobody$', '[a-z]+'])}",
            f"if-{negation}reload = {pick(['', '1'])}",
        ])
        body = [self.line(item=True) for _ in range(self.random.randint(0, 4))]
        end = pick(["end", "endif", "endfor", "endif =", "end-for = x", "end-if"])
        return [begin, *body, end]

    def file(self, depth=0):
        """Writes a file and gives its name."""
        name = f"random{self.files}.{self.random.choice(['ini', 'two.ini'])}"
        self.files += 1
        lines = ["[uwsgi]"]
        for _ in range(self.random.randint(3, 12)):
            kind = self.random.random()
            if kind < 0.25:
                lines += self.block()
            elif kind < 0.35 and depth < 2:
                lines.append(f"{self.random.choice(['ini', 'include'])} = {self.file(depth + 1)}")
            elif kind < 0.4:
                lines += ["[other]", f"k{self.keys} = hidden", "[uwsgi]"]
            else:
                lines.append(self.line())
        newline = self.random.choice(["\n", "\n", "\n", "\r\n"])
        with open(os.path.join(self.folder, name), "w", encoding="utf-8", newline="") as file:
            file.write(newline.join(lines) + self.random.choice([newline, ""]))
        return name
