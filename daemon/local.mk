# ringtail, the server. daemon/python/ is the only code that includes Python.h.

if BUILD_DAEMON

# All but main.c: what a unit test may need. One file a line, sorted.
RINGTAIL_SOURCES = \
	daemon/access_log.h \
	daemon/app.h \
	daemon/check.h \
	daemon/config.h \
	daemon/forwarded.h \
	daemon/log.h \
	daemon/outbuf.c \
	daemon/outbuf.h \
	daemon/parse.h \
	daemon/request.c \
	daemon/request.h \
	daemon/respond.c \
	daemon/respond.h \
	daemon/respond_field.c \
	daemon/respond_field.h \
	daemon/returns.c \
	daemon/returns.h

RINGTAIL_CPPFLAGS = $(LIBURING_CFLAGS) $(LLHTTP_CFLAGS) $(INIH_CFLAGS) $(PYTHON_CFLAGS)
RINGTAIL_LIBS = $(LIBURING_LIBS) $(LLHTTP_LIBS) $(INIH_LIBS) $(PYTHON_LIBS)

# For every program of this make: objects that tests and daemon share are compiled once.
AM_CPPFLAGS += $(RINGTAIL_CPPFLAGS)

if HAVE_MAIN
bin_PROGRAMS += ringtail
endif
# The library's files are compiled in: the installed daemon needs no ldconfig, and ./ringtail is no libtool script.
ringtail_SOURCES = daemon/main.c $(RINGTAIL_SOURCES) $(LIBRINGTAIL_SOURCES)
ringtail_LDADD = $(RINGTAIL_LIBS)

endif
