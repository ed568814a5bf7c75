"""Includes point left only: a room may include the rooms before it, never those after it."""

import os
import re
import sys

ROOMS = ["base", "request", "config", "log", "system", "stats", "plugin", "server", "handover", "process", "cli"]
FOR_PLUGINS = {"base", "request", "plugin"}
RELATIVE = re.compile(r'^\s*#\s*include\s+"(\.[^"]*)"', re.M)
INCLUDE = re.compile(r'^\s*#\s*include\s+"([a-z_]+)/([a-z_0-9]+\.h)"', re.M)


def problems(top):
    for folder in ("src", "plugins"):
        for path, _, files in os.walk(os.path.join(top, folder)):
            for name in files:
                if not name.endswith((".c", ".h")):
                    continue
                full = os.path.join(path, name)
                room = os.path.basename(path)
                text = open(full, encoding="utf-8").read()
                for path_of in RELATIVE.findall(text):
                    yield f"{os.path.relpath(full, top)}: {path_of}: say \"room/file.h\""
                for other, header in INCLUDE.findall(text):
                    if folder == "plugins":
                        allowed = other in FOR_PLUGINS or other == room or \
                            (other, header) == ("config", "option.h")
                    elif room == "src":
                        allowed = True
                    else:
                        allowed = other in ROOMS[: ROOMS.index(room) + 1]
                        # The plugin ABI is seen from plugin/ on; option.h is all it takes of config.
                    if not allowed:
                        yield f"{os.path.relpath(full, top)}: may not include {other}/{header}"


found = list(problems(os.environ.get("top_srcdir", ".")))
print("\n".join(found) or "layers: every include points left")
sys.exit(bool(found))
