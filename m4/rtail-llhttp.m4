# rtail-llhttp.m4: the HTTP/1 parser

# RTAIL_LLHTTP
# llhttp >= 9.2 by --with-llhttp=DIR, else by pkg-config, else from the copy that bootstrap unpacks into the build
# directory. A copy is linked statically: it is not installed. Sets LLHTTP_CFLAGS, LLHTTP_LIBS, llhttp_version, llhttp_from.
AC_DEFUN([RTAIL_LLHTTP], [
  AC_ARG_WITH([llhttp], [AS_HELP_STRING([--with-llhttp=DIR],
    [unpacked llhttp >= 9.2: DIR or DIR/usr holds include/ and lib/])], [], [with_llhttp=])
  AC_ARG_VAR([LLHTTP_CFLAGS], [C compiler flags for llhttp])
  AC_ARG_VAR([LLHTTP_LIBS], [linker flags for llhttp])
  llhttp_from=
  rtail_llhttp_dirs=$with_llhttp
  AS_IF([test -n "$LLHTTP_LIBS"], [llhttp_from="LLHTTP_LIBS"; rtail_llhttp_dirs=], [
    AS_IF([test -z "$with_llhttp" && $PKG_CONFIG --exists 'libllhttp >= 9.2'], [
      LLHTTP_CFLAGS=`$PKG_CONFIG --cflags libllhttp`
      LLHTTP_LIBS=`$PKG_CONFIG --libs libllhttp`
      llhttp_from="pkg-config libllhttp"
    ], [test -z "$with_llhttp"], [rtail_llhttp_dirs=`pwd`/llhttp])
  ])
  AS_IF([test -z "$llhttp_from"], [
    for rtail_dir in $rtail_llhttp_dirs $rtail_llhttp_dirs/usr; do
      test -f "$rtail_dir/include/llhttp.h" || continue
      for rtail_lib in $rtail_dir/lib/libllhttp.a $rtail_dir/lib64/libllhttp.a $rtail_dir/lib/*/libllhttp.a; do
        test -f "$rtail_lib" || continue
        LLHTTP_CFLAGS="-isystem $rtail_dir/include"
        LLHTTP_LIBS=$rtail_lib
        llhttp_from="$rtail_lib, static"
      done
    done
    AS_IF([test -z "$llhttp_from" && test -n "$with_llhttp"],
      [AC_MSG_ERROR([--with-llhttp=$with_llhttp: no include/llhttp.h with lib/libllhttp.a there, nor in $with_llhttp/usr])])
  ])
  AC_MSG_CHECKING([for llhttp >= 9.2])
  llhttp_version=none
  AS_IF([test -n "$llhttp_from"], [
    rtail_save_CPPFLAGS=$CPPFLAGS
    rtail_save_LIBS=$LIBS
    CPPFLAGS="$CPPFLAGS $LLHTTP_CFLAGS"
    LIBS="$LLHTTP_LIBS $LIBS"
    AC_LINK_IFELSE([AC_LANG_PROGRAM([[
      #include <llhttp.h>
      #if LLHTTP_VERSION_MAJOR < 9 || (LLHTTP_VERSION_MAJOR == 9 && LLHTTP_VERSION_MINOR < 2)
      #error too old
      #endif
    ]], [[llhttp_settings_t settings; llhttp_settings_init(&settings);]])], [
      AC_COMPUTE_INT([rtail_llhttp_major], [LLHTTP_VERSION_MAJOR], [[#include <llhttp.h>]])
      AC_COMPUTE_INT([rtail_llhttp_minor], [LLHTTP_VERSION_MINOR], [[#include <llhttp.h>]])
      AC_COMPUTE_INT([rtail_llhttp_patch], [LLHTTP_VERSION_PATCH], [[#include <llhttp.h>]])
      llhttp_version=$rtail_llhttp_major.$rtail_llhttp_minor.$rtail_llhttp_patch
    ], [llhttp_from="$llhttp_from does not do"])
    CPPFLAGS=$rtail_save_CPPFLAGS
    LIBS=$rtail_save_LIBS
  ])
  AC_MSG_RESULT([$llhttp_version${llhttp_from:+ ($llhttp_from)}])
  AS_IF([test "$llhttp_version" = none],
    [RTAIL_NEED([llhttp >= 9.2 (Debian 12 has none: ./bootstrap unpacks that of Debian 13 into the build directory)],
      [libllhttp-dev], [llhttp-devel])])
])
