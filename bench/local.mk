# SPDX-License-Identifier: Apache-2.0
# What the benches run: built by make bench-programs, which bench/serve and its siblings call; not by make.

BENCH_BINARIES =

if BUILD_DAEMON
EXTRA_PROGRAMS = bench/hello_uring bench/load
BENCH_BINARIES += $(EXTRA_PROGRAMS)
CLEANFILES += $(EXTRA_PROGRAMS)
endif

bench_hello_uring_SOURCES = bench/hello_uring.c
bench_hello_uring_CPPFLAGS = $(AM_CPPFLAGS) $(LIBURING_CFLAGS)
bench_hello_uring_LDADD = $(LIBURING_LIBS)
bench_load_SOURCES = bench/load.c bench/response.c bench/response.h lib/clock.h lib/hist.c lib/hist.h
bench_load_LDADD =

.PHONY: bench-programs
bench-programs: $(BENCH_BINARIES)

EXTRA_DIST += \
	bench/apps \
	bench/common \
	bench/idle \
	bench/results \
	bench/run \
	bench/serve \
	bench/slow \
	docs/performance.md
