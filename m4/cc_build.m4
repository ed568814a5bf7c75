dnl The project's own macros: switches, compiler flags, and dependencies that are
dnl reported one a line, each missing one with the Debian package that brings it.

AC_DEFUN([CC_ARG_SWITCHES], [
  AC_ARG_ENABLE([werror], [AS_HELP_STRING([--enable-werror],
    [treat compiler warnings as errors (continuous integration)])])
  AC_ARG_ENABLE([sanitizers], [AS_HELP_STRING([--enable-sanitizers@<:@=LIST@:>@],
    [build with sanitizers; LIST is address,undefined (the default) or thread])])
  AC_ARG_WITH([python], [AS_HELP_STRING([--with-python=PROGRAM],
    [the interpreter to embed; "no" leaves the Python plugin out])],
    [], [with_python=auto])
  AC_ARG_VAR([PYTHON], [the interpreter to embed (as --with-python)])
  cc_missing=
  cc_found=
])

AC_DEFUN([CC_COMPILE_FLAGS], [
  AX_APPEND_COMPILE_FLAGS([-Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
    -Wpointer-arith -Wwrite-strings -Wundef -Wvla -Wformat=2 -Wimplicit-fallthrough],
    [CC_WARNINGS], [-Werror])
  AS_IF([test "x$enable_werror" = xyes], [CC_WARNINGS="$CC_WARNINGS -Werror"])
  AS_CASE([$enable_sanitizers], [yes], [enable_sanitizers=address,undefined], [''], [enable_sanitizers=no])
  CC_FLAGS="-std=gnu11 -fvisibility=hidden -pthread"
  AS_IF([test "x$enable_sanitizers" != xno], [
    CC_FLAGS="$CC_FLAGS -fsanitize=$enable_sanitizers -fno-sanitize-recover=all -fno-omit-frame-pointer"
    AC_DEFINE([CC_SANITIZED], [1], [Built with --enable-sanitizers.])
  ], [
    AX_APPEND_COMPILE_FLAGS([-fstack-protector-strong -fstack-clash-protection -fcf-protection],
      [CC_FLAGS], [-Werror])
    CC_FLAGS="$CC_FLAGS -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2"
    AX_APPEND_LINK_FLAGS([-Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack], [CC_LINK_FLAGS])
    CC_PLUGIN_LINK_FLAGS="-Wl,-z,defs"
  ])
  AC_SUBST([CC_WARNINGS])
  AC_SUBST([CC_FLAGS])
  AC_SUBST([CC_LINK_FLAGS])
  AC_SUBST([CC_PLUGIN_LINK_FLAGS])
])

dnl CC_REPORT(what, version or path)
AC_DEFUN([CC_REPORT], [cc_found="$cc_found
  found    $1 $2"])
dnl CC_REPORT_MISSING(what, package)
AC_DEFUN([CC_REPORT_MISSING], [cc_missing="$cc_missing
  missing  $1: apt-get install $2"])

dnl CC_NEED_LIBRARY(VARIABLE, pkg-config name or empty, package, header, library, function)
AC_DEFUN([CC_NEED_LIBRARY], [
  cc_have_$1=no
  m4_ifval([$2], [PKG_CHECK_MODULES([$1], [$2], [cc_have_$1=yes
    CC_REPORT([$2], [`$PKG_CONFIG --modversion $2`])], [:])])
  AS_IF([test "x$cc_have_$1" = xno], [
    cc_saved_LIBS=$LIBS
    AC_CHECK_HEADER([$4], [AC_CHECK_LIB([$5], [$6], [
      cc_have_$1=yes
      $1_LIBS=-l$5
      CC_REPORT([lib$5], [(header $4)])])])
    LIBS=$cc_saved_LIBS
  ])
  AC_SUBST([$1_CFLAGS])
  AC_SUBST([$1_LIBS])
  AS_IF([test "x$cc_have_$1" = xno], [CC_REPORT_MISSING([lib$5], [$3])])
])

dnl CC_WANT_LIBRARY(VARIABLE, pkg-config name, package): only the tests need it.
AC_DEFUN([CC_WANT_LIBRARY], [
  PKG_CHECK_MODULES([$1], [$2], [cc_have_$1=yes
    CC_REPORT([$2], [`$PKG_CONFIG --modversion $2`])],
    [cc_have_$1=no
    cc_found="$cc_found
  without  $2 (only make check needs it): apt-get install $3"])
])

dnl CC_TRY_PYTHON(program): sets cc_have_python=yes when a program that embeds it links and runs.
dnl The config script is looked for beside the program, then in the interpreter's own BINDIR
dnl (a virtualenv has none of its own).
AC_DEFUN([CC_TRY_PYTHON], [
  AC_MSG_CHECKING([whether $1 can be embedded])
  cc_config=$1-config
  test -x "$cc_config" || cc_config=`$1 -c 'import sysconfig as s; print(s.get_config_var("BINDIR") + "/python" + s.get_config_var("LDVERSION") + "-config")' 2>/dev/null`
  AS_IF([test -x "$cc_config" && "$cc_config" --embed --ldflags >/dev/null 2>&1], [
    cc_saved_CPPFLAGS=$CPPFLAGS cc_saved_LIBS=$LIBS
    PYTHON_CPPFLAGS=`"$cc_config" --includes`
    PYTHON_LIBS=`"$cc_config" --embed --ldflags`
    CPPFLAGS="$CPPFLAGS $PYTHON_CPPFLAGS"
    LIBS="$LIBS $PYTHON_LIBS"
    AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <Python.h>
#if PY_VERSION_HEX < 0x03090000
#error needs Python 3.9
#endif]], [[Py_Initialize();]])], [cc_have_python=yes])
    CPPFLAGS=$cc_saved_CPPFLAGS LIBS=$cc_saved_LIBS
  ])
  AC_MSG_RESULT([$cc_have_python])
])

AC_DEFUN([CC_FIND_PYTHON], [
  cc_have_python=no
  AS_CASE([$with_python],
    [no], [cc_candidates=],
    [auto|yes], [cc_candidates="${PYTHON:-/usr/bin/python3 `command -v python3`}"],
    [cc_candidates=$with_python])
  for cc_candidate in $cc_candidates; do
    AS_IF([test "$cc_have_python" = no], [
      cc_path=`command -v $cc_candidate`
      AS_IF([test -n "$cc_path"], [
        CC_TRY_PYTHON([$cc_path])
        test "$cc_have_python" = yes && PYTHON=$cc_path
      ])
    ])
  done
  AS_IF([test "$cc_have_python" = yes],
    [CC_REPORT([python], [`$PYTHON -c 'import sys; print(sys.version.split()@<:@0@:>@, sys.executable)'`])
     AC_DEFINE_UNQUOTED([CC_PYTHON], ["$PYTHON"], [The interpreter whose library the Python plugin embeds.])],
    [test "$with_python" = no],
    [cc_found="$cc_found
  without  python, as asked (--with-python=no)"],
    [CC_REPORT_MISSING([a python to embed (tried: $cc_candidates)], [python3-dev])])
  # Without the plugin the lints still want an interpreter to run in.
  AS_IF([test "$cc_have_python" = no], [PYTHON=`command -v python3`])
  AC_SUBST([PYTHON])
  AC_SUBST([PYTHON_CPPFLAGS])
  AC_SUBST([PYTHON_LIBS])
])

AC_DEFUN([CC_STOP_IF_MISSING], [
  AS_IF([test -n "$cc_missing"],
    [AC_MSG_ERROR([parts are missing:$cc_missing
The file packages.txt lists all that a build and its tests use.])])
])

AC_DEFUN([CC_SUMMARY], [AS_ECHO(["
ccontainer $PACKAGE_VERSION: configured with$cc_found
  sanitizers: $enable_sanitizers
Next: make && make check"])])
