#!/bin/sh
# A plugin shows the symbol cc_plugin and nothing else.
cd "${top_builddir:-.}" || exit 1
command -v nm >/dev/null || exit 77
status=0
for plugin in http uwsgi python native; do
    [ -f .libs/$plugin.so ] || continue
    shown=$(nm -D --defined-only .libs/$plugin.so | grep -v __asan | grep -v __odr_asan |
        grep -v __ubsan | awk '{print $3}' | tr '\n' ' ')
    if [ "$shown" != "cc_plugin " ]; then
        echo "$plugin.so shows: $shown"
        status=1
    fi
done
exit $status
