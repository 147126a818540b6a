# rtail-python.m4: the Python to link

# RTAIL_PYTHON_TRY(ACTION-IF-GOOD, ACTION-IF-NOT)
# Links a program with PYTHON_CFLAGS, PYTHON_LDFLAGS and PYTHON_LIBS, and runs it: it starts Python and imports what of
# the standard library are extension modules, which take Python's symbols from the process.
AC_DEFUN([RTAIL_PYTHON_TRY], [
  rtail_save_CFLAGS=$CFLAGS
  rtail_save_CPPFLAGS=$CPPFLAGS
  rtail_save_LDFLAGS=$LDFLAGS
  rtail_save_LIBS=$LIBS
  CFLAGS="$RTAIL_CFLAGS $CFLAGS"
  CPPFLAGS="$CPPFLAGS $PYTHON_CFLAGS"
  LDFLAGS="$RTAIL_LDFLAGS $PYTHON_LDFLAGS $LDFLAGS"
  LIBS="$PYTHON_LIBS $LIBS"
  AC_RUN_IFELSE([AC_LANG_SOURCE([[
    #include <Python.h>
    #include <unistd.h>
    #if PY_VERSION_HEX != $py_hexversion
    #error headers of another Python
    #endif
    int main(void)
    {
      PyConfig config;

      PyConfig_InitIsolatedConfig(&config);
      if (PyStatus_Exception(PyConfig_SetBytesString(&config, &config.program_name, "$PYTHON")) ||
          PyStatus_Exception(Py_InitializeFromConfig(&config)))
        return 1;
      /* not by return: LeakSanitizer has much to say about an interpreter that is not finalised */
      _exit(PyRun_SimpleString("import $py_modules\nassert sys.hexversion == $py_hexversion") ? 2 : 0);
    }
  ]])], [rtail_python_runs=yes], [rtail_python_runs=no], [rtail_python_runs=no])
  CFLAGS=$rtail_save_CFLAGS
  CPPFLAGS=$rtail_save_CPPFLAGS
  LDFLAGS=$rtail_save_LDFLAGS
  LIBS=$rtail_save_LIBS
  AS_IF([test $rtail_python_runs = yes], [$1], [$2])
])

# RTAIL_PYTHON
# Asks the interpreter of --with-python how to link its library. Sets PYTHON, PYTHON_CFLAGS, PYTHON_LDFLAGS, PYTHON_LIBS,
# PYTHON_ARCHIVE (empty when shared), PYTHON_VERSION, PYTHON_LDVERSION, LIBPYTHON (static, shared), rtail_python_from and
# rtail_libpython (both for the summary); HAVE_PY_GIL_DISABLED on a build without the GIL.
#
# The static library is taken where it works: Debian's interpreter is linked from it, and its shared library is another
# build, without profile-guided optimisation and position-independent. Its objects need a program at a fixed address.
AC_DEFUN([RTAIL_PYTHON], [
  AC_ARG_WITH([python], [AS_HELP_STRING([--with-python=PATH],
    [interpreter whose library is linked @<:@/usr/bin/python3@:>@])], [], [with_python=/usr/bin/python3])
  AS_CASE([$with_python],
    [yes], [with_python=/usr/bin/python3],
    [no], [AC_MSG_ERROR([--without-python is not possible: ringtail serves Python (--disable-daemon builds the library only)])],
    [*/*], [],
    [rtail_python_path=`command -v "$with_python"` && with_python=$rtail_python_path])
  AC_ARG_WITH([libpython], [AS_HELP_STRING([--with-libpython=auto|static|shared],
    [the interpreter's libpython.a (faster where a distribution builds the two differently; no PIE), or its
     libpython.so @<:@auto: static where it links and runs@:>@])], [], [with_libpython=auto])
  AS_CASE([$with_libpython], [auto|static|shared], [],
    [AC_MSG_ERROR([--with-libpython=$with_libpython: auto, static or shared])])
  PYTHON=$with_python
  PYTHON_CFLAGS=
  PYTHON_LDFLAGS=
  PYTHON_LIBS=
  PYTHON_ARCHIVE=
  LIBPYTHON=
  rtail_python_from=
  AC_SUBST([PYTHON])
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
    PYTHON_CFLAGS=$py_cflags
    rtail_pkg_config=no
    AS_IF([test "$py_prefix" = /usr && $PKG_CONFIG --exists "python-$py_ldversion-embed" &&
           test "`$PKG_CONFIG --variable=prefix "python-$py_ldversion-embed"`" = /usr], [
      rtail_pkg_config=yes
      # -isystem: no warnings of ours for headers of theirs
      PYTHON_CFLAGS=`$PKG_CONFIG --cflags "python-$py_ldversion-embed" | sed 's/^-I/-isystem /; s/ -I/ -isystem /g'`
    ])

    AS_IF([test $with_libpython = shared && test -n "$py_shared_libs"], [rtail_not_static="--with-libpython=shared"],
      [test -n "$rtail_sanitizers" && test -n "$py_shared_libs"], [rtail_not_static="the sanitizers want a position-independent program"],
      [test -z "$py_static"], [rtail_not_static="there is no $py_static_name"],
      [
        # Whole: extension modules also use what the interpreter itself does not. In one word: libtool sorts archives
        # to the end. Only Python's names are exported: an extension module must not find a function of ours under a
        # name that it took for its own.
        PYTHON_LDFLAGS='-no-pie -Wl,--export-dynamic-symbol=Py* -Wl,--export-dynamic-symbol=_Py*'
        PYTHON_LIBS="-Wl,--whole-archive,$py_static,--no-whole-archive $py_static_libs"
        RTAIL_PYTHON_TRY([
          LIBPYTHON=static
          PYTHON_ARCHIVE=$py_static
          rtail_python_from=$py_static
          rtail_libpython="static, $py_static"
        ], [rtail_not_static="$py_static does not link, or not run: see config.log"])
      ])
    AS_IF([test -z "$LIBPYTHON"], [
      PYTHON_LDFLAGS=
      AS_IF([test $rtail_pkg_config = yes], [
        PYTHON_LIBS=`$PKG_CONFIG --libs "python-$py_ldversion-embed"`
        rtail_python_from="pkg-config python-$py_ldversion-embed"
      ], [
        PYTHON_LIBS=${py_shared_libs:--lpython$py_ldversion}
        rtail_python_from=$py_shared_dir
      ])
      RTAIL_PYTHON_TRY([
        LIBPYTHON=shared
        rtail_libpython="shared, $PYTHON_LIBS ($rtail_not_static)"
      ], [])
    ])
    AS_IF([test -n "$LIBPYTHON"], [
      AC_MSG_RESULT([Python $py_version, $rtail_python_from])
      AS_IF([test $with_libpython = static && test $LIBPYTHON = shared],
        [AC_MSG_ERROR([--with-libpython=static is not possible: $rtail_not_static])])
      AS_IF([test "$py_gil_disabled" = 1],
        [AC_DEFINE([HAVE_PY_GIL_DISABLED], [1], [The linked Python can run without the GIL])])
    ], [
      AC_MSG_RESULT([no])
      RTAIL_NEED([headers and library of $PYTHON (Python $py_version)], [python$py_short-dev], [python3-devel])
    ])
  ])
  PYTHON_VERSION=$py_version
  PYTHON_LDVERSION=$py_ldversion
  AC_SUBST([LIBPYTHON])
  AC_SUBST([PYTHON_ARCHIVE])
  AC_SUBST([PYTHON_CFLAGS])
  AC_SUBST([PYTHON_LDFLAGS])
  AC_SUBST([PYTHON_LIBS])
  AC_SUBST([PYTHON_VERSION])
  AC_SUBST([PYTHON_LDVERSION])
])
