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
UNIT_TESTS =

AM_CPPFLAGS += $(CHECK_CFLAGS)
LDADD = $(CHECK_LIBS)

# --- Configuration and start -------------------------------------------------

if BUILD_DAEMON
UNIT_TESTS += \
	tests/fuzz/fuzz_config \
	tests/unit/test_allowed_cpus \
	tests/unit/test_bind_address \
	tests/unit/test_config \
	tests/unit/test_config_ini \
	tests/unit/test_config_print \
	tests/unit/test_config_value \
	tests/unit/test_doctor \
	tests/unit/test_env_file \
	tests/unit/test_listener \
	tests/unit/test_suggest
endif

CONFIG_SOURCES = \
	daemon/access_log_format.c \
	daemon/allowed_cpus.c \
	daemon/bind_address.c \
	daemon/cidr.c \
	daemon/cli.c \
	daemon/config.c \
	daemon/config_check.c \
	daemon/config_environment.c \
	daemon/config_ini.c \
	daemon/config_value.c \
	daemon/foreign.c \
	daemon/suggest.c

FUZZ_CONFIG_SOURCES = tests/fuzz/fuzz_config.c tests/fuzz/fuzz.h $(CONFIG_SOURCES)
tests_fuzz_fuzz_config_SOURCES = $(FUZZ_CONFIG_SOURCES) tests/fuzz/replay.c
tests_fuzz_fuzz_config_LDADD = $(INIH_LIBS)
tests_unit_test_allowed_cpus_SOURCES = tests/unit/test_allowed_cpus.c daemon/allowed_cpus.c
tests_unit_test_bind_address_SOURCES = tests/unit/test_bind_address.c daemon/bind_address.c
tests_unit_test_config_SOURCES = tests/unit/test_config.c tests/unit/capture.h $(CONFIG_SOURCES)
tests_unit_test_config_LDADD = $(CHECK_LIBS) $(INIH_LIBS)
tests_unit_test_config_ini_SOURCES = tests/unit/test_config_ini.c tests/unit/capture.h $(CONFIG_SOURCES)
tests_unit_test_config_ini_LDADD = $(CHECK_LIBS) $(INIH_LIBS)
tests_unit_test_config_print_SOURCES = tests/unit/test_config_print.c daemon/config_print.c $(CONFIG_SOURCES)
tests_unit_test_config_print_LDADD = $(CHECK_LIBS) $(INIH_LIBS)
tests_unit_test_config_value_SOURCES = tests/unit/test_config_value.c daemon/config_value.c daemon/suggest.c
tests_unit_test_doctor_SOURCES = tests/unit/test_doctor.c daemon/doctor.c daemon/doctor_ring.c $(CONFIG_SOURCES)
tests_unit_test_doctor_LDADD = $(CHECK_LIBS) $(INIH_LIBS) $(LIBURING_LIBS)
tests_unit_test_env_file_SOURCES = tests/unit/test_env_file.c tests/unit/capture.h daemon/env_file.c daemon/start_error.c
tests_unit_test_listener_SOURCES = tests/unit/test_listener.c tests/unit/capture.h daemon/bind_address.c daemon/listener.c \
	daemon/start_error.c
tests_unit_test_suggest_SOURCES = tests/unit/test_suggest.c daemon/suggest.c

# --- The library -------------------------------------------------------------

UNIT_TESTS += \
	tests/race/elastic_stress \
	tests/unit/test_elastic \
	tests/unit/test_elastic_growth \
	tests/unit/test_elastic_life \
	tests/unit/test_elastic_messages \
	tests/unit/test_elastic_policy \
	tests/unit/test_hist \
	tests/unit/test_parker \
	tests/unit/test_ring \
	tests/unit/test_stall

ELASTIC_SOURCES = \
	lib/elastic.c \
	lib/elastic_grow.c \
	lib/elastic_lane.c \
	lib/elastic_policy.c \
	lib/elastic_stats.c \
	lib/elastic_thread.c \
	lib/parker.c \
	lib/ring.c \
	lib/stall.c
ELASTIC_RIG = tests/unit/elastic_rig.c tests/unit/elastic_rig.h $(ELASTIC_SOURCES)

tests_race_elastic_stress_SOURCES = tests/race/elastic_stress.c $(ELASTIC_SOURCES)
tests_unit_test_elastic_SOURCES = tests/unit/test_elastic.c $(ELASTIC_RIG)
tests_unit_test_elastic_growth_SOURCES = tests/unit/test_elastic_growth.c $(ELASTIC_RIG)
tests_unit_test_elastic_life_SOURCES = tests/unit/test_elastic_life.c $(ELASTIC_RIG)
tests_unit_test_elastic_messages_SOURCES = tests/unit/test_elastic_messages.c $(ELASTIC_RIG)
tests_unit_test_elastic_policy_SOURCES = tests/unit/test_elastic_policy.c lib/elastic_policy.c
tests_unit_test_hist_SOURCES = tests/unit/test_hist.c lib/hist.c
tests_unit_test_parker_SOURCES = tests/unit/test_parker.c lib/parker.c
tests_unit_test_ring_SOURCES = tests/unit/test_ring.c lib/ring.c
tests_unit_test_stall_SOURCES = tests/unit/test_stall.c lib/stall.c

# --- The way out: requests, responses, logs ----------------------------------

if BUILD_DAEMON
UNIT_TESTS += \
	tests/unit/test_access_log \
	tests/unit/test_escape \
	tests/unit/test_log \
	tests/unit/test_null_app \
	tests/unit/test_report \
	tests/unit/test_request \
	tests/unit/test_respond \
	tests/unit/test_response \
	tests/unit/test_respond_ends \
	tests/unit/test_returns
endif

tests_unit_test_access_log_SOURCES = tests/unit/test_access_log.c daemon/access_log.c daemon/access_log_format.c daemon/escape.c \
	daemon/request.c daemon/suggest.c
tests_unit_test_escape_SOURCES = tests/unit/test_escape.c daemon/escape.c
tests_unit_test_log_SOURCES = tests/unit/test_log.c daemon/escape.c daemon/log.c daemon/log_writer.c
tests_unit_test_null_app_SOURCES = tests/unit/test_null_app.c daemon/null_app.c daemon/outbuf.c daemon/request.c \
	daemon/respond.c daemon/respond_buffer.c daemon/respond_field.c daemon/respond_room.c daemon/returns.c
tests_unit_test_report_SOURCES = tests/unit/test_report.c daemon/report.c lib/hist.c
tests_unit_test_request_SOURCES = tests/unit/test_request.c daemon/request.c
tests_unit_test_respond_SOURCES = tests/unit/test_respond.c $(RESPOND_SOURCES)
tests_unit_test_respond_ends_SOURCES = tests/unit/test_respond_ends.c $(RESPOND_SOURCES)
RESPOND_SOURCES = tests/unit/respond_rig.c tests/unit/respond_rig.h daemon/outbuf.c daemon/request.c daemon/respond.c \
	daemon/respond_buffer.c daemon/respond_field.c daemon/respond_room.c daemon/returns.c
tests_unit_test_response_SOURCES = tests/unit/test_response.c bench/response.c bench/response.h
tests_unit_test_returns_SOURCES = tests/unit/test_returns.c daemon/returns.c

# --- The parser and its fuzzers ----------------------------------------------

if BUILD_DAEMON
UNIT_TESTS += \
	tests/fuzz/fuzz_forwarded \
	tests/fuzz/fuzz_parse \
	tests/unit/test_cidr \
	tests/unit/test_forwarded \
	tests/unit/test_parse \
	tests/unit/test_parse_body \
	tests/unit/test_parse_cache \
	tests/unit/test_parse_target
endif

PARSER_SOURCES = \
	daemon/block_hash.c \
	daemon/cidr.c \
	daemon/forwarded.c \
	daemon/forwarded_line.c \
	daemon/parse.c \
	daemon/parse_body.c \
	daemon/parse_cache.c \
	daemon/parse_field.c \
	daemon/parse_target.c \
	daemon/request.c \
	tests/unit/parse_rig.c \
	tests/unit/parse_rig.h
FUZZ_PARSE_SOURCES = tests/fuzz/fuzz_parse.c tests/fuzz/fuzz.h $(PARSER_SOURCES)
FUZZ_FORWARDED_SOURCES = tests/fuzz/fuzz_forwarded.c tests/fuzz/fuzz.h daemon/cidr.c daemon/forwarded_line.c daemon/parse_target.c

# In make check a fuzzer replays its corpus.
tests_fuzz_fuzz_forwarded_SOURCES = $(FUZZ_FORWARDED_SOURCES) tests/fuzz/replay.c
tests_fuzz_fuzz_parse_SOURCES = $(FUZZ_PARSE_SOURCES) tests/fuzz/replay.c
tests_fuzz_fuzz_parse_LDADD = $(LLHTTP_LIBS)
tests_unit_test_cidr_SOURCES = tests/unit/test_cidr.c daemon/cidr.c
tests_unit_test_forwarded_SOURCES = tests/unit/test_forwarded.c $(PARSER_SOURCES)
tests_unit_test_forwarded_LDADD = $(CHECK_LIBS) $(LLHTTP_LIBS)
tests_unit_test_parse_SOURCES = tests/unit/test_parse.c $(PARSER_SOURCES)
tests_unit_test_parse_LDADD = $(CHECK_LIBS) $(LLHTTP_LIBS)
tests_unit_test_parse_body_SOURCES = tests/unit/test_parse_body.c $(PARSER_SOURCES)
tests_unit_test_parse_body_LDADD = $(CHECK_LIBS) $(LLHTTP_LIBS)
tests_unit_test_parse_cache_SOURCES = tests/unit/test_parse_cache.c $(PARSER_SOURCES)
tests_unit_test_parse_cache_LDADD = $(CHECK_LIBS) $(LLHTTP_LIBS)
tests_unit_test_parse_target_SOURCES = tests/unit/test_parse_target.c daemon/parse_target.c

# make fuzz [FUZZ_SECONDS=300] [FUZZ_CLANG=clang-16]: libFuzzer with ASan and UBSan, each fuzzer in turn. What it finds new
# goes to fuzz-corpus/ of the build tree, a crash stops it and is named.
FUZZ_SECONDS = 120
FUZZ_CLANG = clang
FUZZ_FLAGS = -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined
FUZZ_COMPILE = $(FUZZ_CLANG) -std=gnu17 $(DEFS) $(AM_CPPFLAGS) $(FUZZ_FLAGS)

.PHONY: fuzz
fuzz:
	@command -v $(FUZZ_CLANG) >/dev/null || { \
		echo "make fuzz needs clang with libFuzzer: apt-get install clang libclang-rt-dev (Fedora: clang compiler-rt)"; exit 1; }
	$(MKDIR_P) fuzz-corpus/config fuzz-corpus/parse fuzz-corpus/forwarded
	$(FUZZ_COMPILE) -o fuzz-corpus/fuzz_config $(patsubst %,$(srcdir)/%,$(filter %.c,$(FUZZ_CONFIG_SOURCES))) $(INIH_LIBS)
	$(FUZZ_COMPILE) -o fuzz-corpus/fuzz_parse $(patsubst %,$(srcdir)/%,$(filter %.c,$(FUZZ_PARSE_SOURCES))) $(LLHTTP_LIBS)
	$(FUZZ_COMPILE) -o fuzz-corpus/fuzz_forwarded $(patsubst %,$(srcdir)/%,$(filter %.c,$(FUZZ_FORWARDED_SOURCES)))
	cd fuzz-corpus && for name in config parse forwarded; do \
		./fuzz_$$name -max_total_time=$(FUZZ_SECONDS) -max_len=4096 -print_final_stats=1 \
			$$name $(abs_top_srcdir)/tests/fuzz/corpus/$$name || exit 1; \
	done

clean-local: clean-fuzz
.PHONY: clean-fuzz
clean-fuzz:
	rm -rf fuzz-corpus fuzz.log

EXTRA_DIST += tests/fuzz/corpus tests/fuzz/fuzz.sh

# --- Server (pytest) ---------------------------------------------------------
# One automake test a file; it gets RINGTAIL (the built program), PYTHON, srcdir and builddir. One file a line, sorted.

PYTEST_TESTS = \
	tests/bench/test_figures.py \
	tests/cli/test_machine.py \
	tests/cli/test_signals.py \
	tests/cli/test_sources.py \
	tests/cli/test_start.py \
	tests/cli/test_usage.py \
	tests/clients/test_clients.py \
	tests/django/test_django_live.py \
	tests/django/test_django_same.py \
	tests/django/test_django_session.py \
	tests/http/test_access_log.py \
	tests/http/test_binds.py \
	tests/http/test_break_ends.py \
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
	tests/http/test_soak_short.py \
	tests/http/test_split.py \
	tests/http/test_stop.py \
	tests/http/test_timeouts.py \
	tests/pool/test_pool_growth.py \
	tests/pool/test_pool_modes.py \
	tests/pool/test_pool_slow_views.py \
	tests/python/test_frameworks.py \
	tests/python/test_libpython.py \
	tests/python/test_lifecycle_exit.py \
	tests/python/test_lifecycle_faulthandler.py \
	tests/python/test_lifecycle_names.py \
	tests/python/test_lifecycle_signals.py \
	tests/python/test_lifecycle_threads.py \
	tests/python/test_lifecycle_venv.py \
	tests/python/test_shared_objects.py \
	tests/python/test_wsgi_body.py \
	tests/python/test_wsgi_environ.py \
	tests/python/test_wsgi_errors.py \
	tests/python/test_wsgi_files.py \
	tests/python/test_wsgi_input.py \
	tests/python/test_wsgi_start_response.py \
	tests/python/test_wsgi_validate.py

# Not part of make check; RINGTAIL_LONG=1 in their environment.
LONG_TESTS = \
	tests/fuzz/fuzz.sh \
	tests/long/test_apps.py \
	tests/long/test_browser.py \
	tests/long/test_clients_pypi.py \
	tests/long/test_django_versions.py \
	tests/long/test_soak.py \
	tests/long/test_wrappers.py \
	tests/long/test_wrappers_django.py \
	tests/race/elastic_stress

# --- Glue --------------------------------------------------------------------

if HAVE_CHECK
check_PROGRAMS += $(UNIT_TESTS)
UNIT_TESTS_HERE = $(UNIT_TESTS)
else
UNIT_TESTS_HERE = tests/unit-missing.sh
endif

TESTS = tests/listed.sh $(UNIT_TESTS_HERE)
if BUILD_DAEMON
TESTS += $(PYTEST_TESTS)
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
	tests/bench \
	tests/cli \
	tests/clients \
	tests/conftest.py \
	tests/django \
	tests/harness \
	tests/http \
	tests/installcheck.sh \
	tests/listed.sh \
	tests/long \
	tests/pool \
	tests/python \
	tests/run-pytest \
	tests/run-unit \
	tests/unit-missing.sh
