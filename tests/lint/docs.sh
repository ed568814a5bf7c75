#!/bin/sh
# The man page and docs/options.md are as the option tables have it; `make docs` renews them.
# Skipped (77) where a plugin was not built, since its options would be missing.
cd "${top_builddir:-.}" || exit 1
for plugin in http uwsgi python; do
    [ -f .libs/$plugin.so ] || exit 77
done
status=0
./ccontainer --print-man | diff -u "$top_srcdir/docs/ccontainer.1" - || status=1
./ccontainer --print-options-md | diff -u "$top_srcdir/docs/options.md" - || status=1
[ $status = 0 ] || echo "docs: run make docs"
exit $status
