#!/bin/sh
# Every C file is as clang-format 14 writes it. Skipped (77) where the tool is missing.
cd "${top_srcdir:-.}" || exit 1
command -v clang-format >/dev/null || exit 77
case $(clang-format --version) in *" 14."*) ;; *) exit 77 ;; esac
find src plugins tests -name '*.[ch]' -print0 | xargs -0 clang-format --dry-run --Werror
