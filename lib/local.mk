# libringtail: the pools and what they are made of. No Python, no io_uring.

# The daemon and the unit tests compile the same files into themselves: list them here once.
LIBRINGTAIL_SOURCES = \
	lib/clock.h \
	lib/elastic.c \
	lib/elastic.h \
	lib/elastic_grow.c \
	lib/elastic_lane.c \
	lib/elastic_policy.c \
	lib/elastic_policy.h \
	lib/elastic_priv.h \
	lib/elastic_stats.c \
	lib/elastic_thread.c \
	lib/futex.h \
	lib/hist.c \
	lib/hist.h \
	lib/job.h \
	lib/parker.c \
	lib/parker.h \
	lib/ring.c \
	lib/ring.h \
	lib/stall.c \
	lib/stall.h

lib_LTLIBRARIES += libringtail.la
libringtail_la_SOURCES = $(LIBRINGTAIL_SOURCES)
# Own flags give the library's objects own names: the programs build theirs without libtool.
libringtail_la_CPPFLAGS = $(AM_CPPFLAGS)
# current:revision:age. Every release that changes an interface raises current; only additions keep age.
libringtail_la_LDFLAGS = $(AM_LDFLAGS) -version-info 0:0:0 -export-symbols-regex '^rtail_[a-z]'

# They include each other as "job.h", which is found beside the including file.
pkgincludedir = $(includedir)/ringtail
pkginclude_HEADERS = \
	lib/clock.h \
	lib/elastic.h \
	lib/hist.h \
	lib/job.h

pkgconfigdir = $(libdir)/pkgconfig
pkgconfig_DATA = lib/libringtail.pc
