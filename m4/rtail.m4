# rtail.m4: checks of our own for configure.ac

# RTAIL_NEED(WHAT, DEBIAN PACKAGE, FEDORA PACKAGE)
# Collects a missing dependency. All of them are named in one error at the end, so that one install suffices.
AC_DEFUN([RTAIL_NEED], [
  rtail_missing="$rtail_missing
  $1"
  rtail_missing_debian="$rtail_missing_debian $2"
  rtail_missing_fedora="$rtail_missing_fedora $3"
])

# RTAIL_STOP_IF_MISSING: the error for what RTAIL_NEED collected.
AC_DEFUN([RTAIL_STOP_IF_MISSING], [
  AS_IF([test -n "$rtail_missing"], [AC_MSG_ERROR([missing:$rtail_missing
Debian, Ubuntu: apt-get install$rtail_missing_debian
Fedora:         dnf install$rtail_missing_fedora
(./bootstrap installs what is missing and builds)])])
])

# RTAIL_ADD_FLAG(VARIABLE, FLAG): appends FLAG to VARIABLE when compiler and linker take it without a warning.
AC_DEFUN([RTAIL_ADD_FLAG], [
  AS_VAR_PUSHDEF([cached], [rtail_cv_flag_$2])
  AC_CACHE_CHECK([whether $CC takes $2], [cached], [
    rtail_save_CFLAGS=$CFLAGS
    CFLAGS="$CFLAGS $RTAIL_CFLAGS -Werror $2"
    AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])], [AS_VAR_SET([cached], [yes])], [AS_VAR_SET([cached], [no])])
    CFLAGS=$rtail_save_CFLAGS
  ])
  AS_VAR_IF([cached], [yes], [$1="$$1 $2"])
  AS_VAR_POPDEF([cached])
])
