"""The docs name what exists: files behind links, and functions written as `name()`."""

import os
import re
import sys

LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)")
FUNCTION = re.compile(r"`([a-z_]+)\(\)`")
PAGES = ["README.md", "CONTRIBUTING.md"]


def sources(top):
    """The text of all C files: where a function that the docs name has to be."""
    texts = []
    for folder in ("src", "plugins"):
        for path, _, files in os.walk(os.path.join(top, folder)):
            for name in files:
                if name.endswith((".c", ".h")):
                    with open(os.path.join(path, name), encoding="utf-8") as file:
                        texts.append(file.read())
    return "\n".join(texts)


def problems(top):
    docs = sorted(os.listdir(os.path.join(top, "docs")))
    code = sources(top)
    for page in PAGES + [f"docs/{name}" for name in docs if name.endswith(".md")]:
        with open(os.path.join(top, page), encoding="utf-8") as file:
            text = file.read()
        for target in LINK.findall(text):
            if not os.path.exists(os.path.join(top, os.path.dirname(page), target)):
                yield f"{page}: the link to {target} leads nowhere"
        for name in FUNCTION.findall(text):
            if not re.search(rf"\b{name}\)?\(", code):
                yield f"{page}: there is no function {name}()"


found = list(problems(os.environ.get("top_srcdir", ".")))
print("\n".join(found) or "links: all lead somewhere")
sys.exit(bool(found))
