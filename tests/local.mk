# Tests. Everything speaks TAP through one driver, so that a skip is counted as a skip.
#
#   make check         all fast tests            make check TESTS=tests/unit/test_hist
#   make check-unit    the C modules only        make check TESTS=tests/http/test_framing.py
#   make check-long    soaks, PyPI peers, browser

# --- C modules (Check) -------------------------------------------------------
# A test lists the sources it needs, no more:
#
#   UNIT_TESTS += tests/unit/test_hist
#   tests_unit_test_hist_SOURCES = tests/unit/test_hist.c lib/hist.c
#
# Libraries beside Check: tests_unit_test_parse_LDADD = $(CHECK_LIBS) $(LLHTTP_LIBS)
# A main() that cannot test here prints the reason on standard output and returns 77 before it runs Check.

# One line a program, sorted; its sources below.
UNIT_TESTS = \
	tests/unit/test_request \
	tests/unit/test_respond \
	tests/unit/test_returns
tests_unit_test_request_SOURCES = tests/unit/test_request.c daemon/request.c
tests_unit_test_respond_SOURCES = tests/unit/test_respond.c daemon/outbuf.c daemon/request.c daemon/respond.c daemon/respond_field.c daemon/returns.c
tests_unit_test_returns_SOURCES = tests/unit/test_returns.c daemon/returns.c

AM_CPPFLAGS += $(CHECK_CFLAGS)
LDADD = $(CHECK_LIBS)

# --- Server (pytest) ---------------------------------------------------------
# One automake test a file; it gets RINGTAIL (the built program), PYTHON, srcdir and builddir. One file a line, sorted.

PYTEST_TESTS = \
	tests/django/test_django_live.py \
	tests/django/test_django_same.py \
	tests/django/test_django_session.py \
	tests/http/test_access_log.py \
	tests/http/test_binds.py \
	tests/http/test_chunked.py \
	tests/http/test_continue.py \
	tests/http/test_forwarded.py \
	tests/http/test_gone.py \
	tests/http/test_half_close.py \
	tests/http/test_keepalive_cap.py \
	tests/http/test_large.py \
	tests/http/test_limits.py \
	tests/http/test_many.py \
	tests/http/test_methods.py \
	tests/http/test_paused.py \
	tests/http/test_pipelining.py \
	tests/http/test_queue.py \
	tests/http/test_refusals.py \
	tests/http/test_split.py \
	tests/http/test_stop.py \
	tests/http/test_timeouts.py

# Not part of make check; RINGTAIL_LONG=1 in their environment.
LONG_TESTS =

# --- Glue --------------------------------------------------------------------

if HAVE_CHECK
check_PROGRAMS += $(UNIT_TESTS)
UNIT_TESTS_HERE = $(UNIT_TESTS)
else
UNIT_TESTS_HERE = tests/unit-missing.sh
endif

TESTS = tests/listed.sh $(UNIT_TESTS_HERE)
if BUILD_DAEMON
if HAVE_MAIN
TESTS += $(PYTEST_TESTS)
endif
endif

TEST_EXTENSIONS = .sh .py
TAP_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
LOG_DRIVER = $(TAP_DRIVER)
LOG_COMPILER = $(SHELL) $(top_srcdir)/tests/run-unit
SH_LOG_DRIVER = $(TAP_DRIVER)
SH_LOG_COMPILER = $(SHELL)
PY_LOG_DRIVER = $(TAP_DRIVER)
PY_LOG_COMPILER = $(SHELL) $(top_srcdir)/tests/run-pytest

AM_TESTS_ENVIRONMENT = \
	RINGTAIL='$(abs_top_builddir)/ringtail$(EXEEXT)'; export RINGTAIL; \
	PYTHON='$(PYTHON)'; export PYTHON; \
	srcdir='$(abs_top_srcdir)'; export srcdir; \
	builddir='$(abs_top_builddir)'; export builddir; \
	PYTHONDONTWRITEBYTECODE=1; export PYTHONDONTWRITEBYTECODE;

.PHONY: check-unit check-long
check-unit:
	$(MAKE) $(AM_MAKEFLAGS) check TESTS='$(UNIT_TESTS_HERE)'
check-long: all
	RINGTAIL_LONG=1 $(MAKE) $(AM_MAKEFLAGS) check TESTS='$(LONG_TESTS)'

if BUILD_DAEMON
installcheck_daemon = yes
else
installcheck_daemon = no
endif
installcheck-local:
	BINDIR='$(DESTDIR)$(bindir)' LIBDIR='$(DESTDIR)$(libdir)' DESTDIR='$(DESTDIR)' VERSION='$(PACKAGE_VERSION)' \
	CC='$(CC)' CFLAGS='$(RTAIL_CFLAGS) $(CFLAGS)' PKG_CONFIG='$(PKG_CONFIG)' has_daemon=$(installcheck_daemon) \
	$(SHELL) $(top_srcdir)/tests/installcheck.sh

EXTRA_DIST += \
	build-aux/pytest_tap.py \
	tests/conftest.py \
	tests/django \
	tests/harness \
	tests/http \
	tests/installcheck.sh \
	tests/listed.sh \
	tests/run-pytest \
	tests/run-unit \
	tests/unit-missing.sh
