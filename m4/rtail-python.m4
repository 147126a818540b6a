# rtail-python.m4: the Python to link

# RTAIL_PYTHON
# Asks the interpreter of --with-python how to link its library. Sets PYTHON, PYTHON_CFLAGS, PYTHON_LIBS,
# PYTHON_VERSION, PYTHON_LDVERSION and rtail_python_from; HAVE_PY_GIL_DISABLED on a build without the GIL.
AC_DEFUN([RTAIL_PYTHON], [
  AC_ARG_WITH([python], [AS_HELP_STRING([--with-python=PATH],
    [interpreter whose library is linked @<:@/usr/bin/python3@:>@])], [], [with_python=/usr/bin/python3])
  AS_CASE([$with_python],
    [yes], [with_python=/usr/bin/python3],
    [no], [AC_MSG_ERROR([--without-python is not possible: ringtail serves Python (--disable-daemon builds the library only)])],
    [*/*], [],
    [rtail_python_path=`command -v "$with_python"` && with_python=$rtail_python_path])
  PYTHON=$with_python
  AC_SUBST([PYTHON])
  rtail_python_ok=no
  AC_MSG_CHECKING([for the library of $PYTHON])
  AS_IF([test ! -x "$PYTHON"], [
    AC_MSG_RESULT([no such interpreter])
    AS_IF([test "$PYTHON" = /usr/bin/python3],
      [RTAIL_NEED([Python >= 3.11 (/usr/bin/python3)], [python3 python3-dev], [python3 python3-devel])],
      [AC_MSG_ERROR([--with-python=$PYTHON: there is no such program])])
  ], [
    rtail_python_answer=`"$PYTHON" -I "$srcdir/build-aux/python-embed.py" 2>&AS_MESSAGE_LOG_FD` ||
      AC_MSG_ERROR([$PYTHON does not run: see config.log])
    py_version=
    eval "$rtail_python_answer"
    AS_IF([test -z "$py_version"], [AC_MSG_ERROR([--with-python=$PYTHON: this is no Python])])
    AS_IF([test "$py_version_ok" != yes],
      [AC_MSG_ERROR([$PYTHON is Python $py_version, but ringtail needs 3.11 or newer: name another interpreter by --with-python=PATH])])
    rtail_python_from=
    AS_IF([test "$py_prefix" = /usr && $PKG_CONFIG --exists "python-$py_ldversion-embed" &&
           test "`$PKG_CONFIG --variable=prefix "python-$py_ldversion-embed"`" = /usr], [
      # -isystem: no warnings of ours for headers of theirs
      PYTHON_CFLAGS=`$PKG_CONFIG --cflags "python-$py_ldversion-embed" | sed 's/^-I/-isystem /; s/ -I/ -isystem /g'`
      PYTHON_LIBS=`$PKG_CONFIG --libs "python-$py_ldversion-embed"`
      rtail_python_from="pkg-config python-$py_ldversion-embed"
    ], [
      PYTHON_CFLAGS=$py_cflags
      PYTHON_LIBS=$py_libs
      rtail_python_from=$py_libdir
    ])
    rtail_save_CPPFLAGS=$CPPFLAGS
    rtail_save_LIBS=$LIBS
    CPPFLAGS="$CPPFLAGS $PYTHON_CFLAGS"
    LIBS="$PYTHON_LIBS $LIBS"
    AC_LINK_IFELSE([AC_LANG_PROGRAM([[
      #include <Python.h>
      #if PY_VERSION_HEX < 0x030b0000
      #error too old
      #endif
    ]], [[Py_Initialize();]])], [rtail_python_ok=yes])
    CPPFLAGS=$rtail_save_CPPFLAGS
    LIBS=$rtail_save_LIBS
    AS_IF([test $rtail_python_ok = yes], [
      AC_MSG_RESULT([Python $py_version, $rtail_python_from])
      AS_IF([test "$py_gil_disabled" = 1],
        [AC_DEFINE([HAVE_PY_GIL_DISABLED], [1], [The linked Python can run without the GIL])])
    ], [
      AC_MSG_RESULT([no])
      RTAIL_NEED([headers and library of $PYTHON (Python $py_version)], [python$py_short-dev], [python3-devel])
    ])
  ])
  PYTHON_VERSION=$py_version
  PYTHON_LDVERSION=$py_ldversion
  AC_SUBST([PYTHON_CFLAGS])
  AC_SUBST([PYTHON_LIBS])
  AC_SUBST([PYTHON_VERSION])
  AC_SUBST([PYTHON_LDVERSION])
])
