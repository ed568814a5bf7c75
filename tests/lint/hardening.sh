#!/bin/sh
# The binary and the plugins are hardened: position independent, all relocations read-only before
# main(), a stack protector, no executable stack. Skipped (77) on a build with sanitizers.
cd "${top_builddir:-.}" || exit 1
command -v readelf >/dev/null || exit 77
grep -q 'define CC_SANITIZED 1' config.h && exit 77
status=0
for file in ccontainer .libs/http.so .libs/uwsgi.so .libs/python.so .libs/native.so; do
    # libtool may leave a script of the name and the program in .libs.
    [ -f ".libs/$file" ] && file=.libs/$file
    [ -f "$file" ] || continue
    facts=$(readelf -hldW "$file")
    for wanted in 'Type: *DYN' 'GNU_RELRO' '(FLAGS|FLAGS_1).*NOW' 'GNU_STACK .* RW '; do
        if ! echo "$facts" | grep -Eq "$wanted"; then
            echo "$file: readelf -hld shows no \"$wanted\""
            status=1
        fi
    done
    readelf -W --dyn-syms "$file" | grep -q __stack_chk_fail || {
        echo "$file: no stack protector"
        status=1
    }
done
exit $status
