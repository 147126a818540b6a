# ringtail, the server. daemon/python/ is the only code that includes Python.h.

if BUILD_DAEMON

# All but main.c: what a unit test may need. One file a line, sorted.
RINGTAIL_SOURCES = \
	daemon/accept.c \
	daemon/accept.h \
	daemon/access_log.c \
	daemon/access_log.h \
	daemon/access_log_format.c \
	daemon/access_log_format.h \
	daemon/access_variables.def \
	daemon/admit.c \
	daemon/admit.h \
	daemon/allowed_cpus.c \
	daemon/allowed_cpus.h \
	daemon/app.h \
	daemon/bind_address.c \
	daemon/bind_address.h \
	daemon/block_hash.c \
	daemon/block_hash.h \
	daemon/body.c \
	daemon/body.h \
	daemon/cadence.h \
	daemon/check.h \
	daemon/cidr.c \
	daemon/cidr.h \
	daemon/cli.c \
	daemon/cli.h \
	daemon/config.c \
	daemon/config.h \
	daemon/config_check.c \
	daemon/config_environment.c \
	daemon/config_ini.c \
	daemon/config_print.c \
	daemon/config_print.h \
	daemon/config_priv.h \
	daemon/config_value.c \
	daemon/config_value.h \
	daemon/conn.c \
	daemon/conn.h \
	daemon/doctor.c \
	daemon/doctor.h \
	daemon/doctor_priv.h \
	daemon/doctor_ring.c \
	daemon/drain.c \
	daemon/drain.h \
	daemon/engine.h \
	daemon/engine_uring.c \
	daemon/env_file.c \
	daemon/env_file.h \
	daemon/escape.c \
	daemon/escape.h \
	daemon/flow.c \
	daemon/flow.h \
	daemon/foreign.c \
	daemon/foreign.h \
	daemon/forwarded.c \
	daemon/forwarded.h \
	daemon/forwarded_line.c \
	daemon/forwarded_line.h \
	daemon/handler.c \
	daemon/handler.h \
	daemon/listener.c \
	daemon/listener.h \
	daemon/log.c \
	daemon/log.h \
	daemon/log_writer.c \
	daemon/log_writer.h \
	daemon/loop.c \
	daemon/loop.h \
	daemon/null_app.c \
	daemon/options.def \
	daemon/outbuf.c \
	daemon/outbuf.h \
	daemon/parse.c \
	daemon/parse.h \
	daemon/parse_body.c \
	daemon/parse_cache.c \
	daemon/parse_field.c \
	daemon/parse_field.h \
	daemon/parse_priv.h \
	daemon/parse_target.c \
	daemon/parse_target.h \
	daemon/python/app.c \
	daemon/python/bridge.h \
	daemon/python/environ.c \
	daemon/python/errors.c \
	daemon/python/file_wrapper.c \
	daemon/python/fork.c \
	daemon/python/guard.c \
	daemon/python/input.c \
	daemon/python/interp.c \
	daemon/python/main_wait.c \
	daemon/python/module.c \
	daemon/python/report.c \
	daemon/python/start_response.c \
	daemon/python/venv.c \
	daemon/python/wsgi.c \
	daemon/recv.c \
	daemon/recv.h \
	daemon/refusal_log.c \
	daemon/refusal_log.h \
	daemon/report.c \
	daemon/report.h \
	daemon/request.c \
	daemon/request.h \
	daemon/respond.c \
	daemon/respond.h \
	daemon/respond_buffer.c \
	daemon/respond_buffer.h \
	daemon/respond_field.c \
	daemon/respond_field.h \
	daemon/respond_room.c \
	daemon/returns.c \
	daemon/returns.h \
	daemon/send.c \
	daemon/send.h \
	daemon/signals.c \
	daemon/signals.h \
	daemon/stages.h \
	daemon/start_error.c \
	daemon/start_error.h \
	daemon/suggest.c \
	daemon/suggest.h \
	daemon/timer.c \
	daemon/timer.h \
	daemon/worker.c \
	daemon/worker.h

RINGTAIL_CPPFLAGS = $(LIBURING_CFLAGS) $(LLHTTP_CFLAGS) $(INIH_CFLAGS) $(PYTHON_CFLAGS) \
	-DRINGTAIL_PYTHON='"$(PYTHON)"' -DRINGTAIL_PYTHON_VERSION='"$(PYTHON_VERSION)"'
RINGTAIL_LIBS = $(LIBURING_LIBS) $(LLHTTP_LIBS) $(INIH_LIBS) $(PYTHON_LIBS)

# For every program of this make: objects that tests and daemon share are compiled once.
AM_CPPFLAGS += $(RINGTAIL_CPPFLAGS)

bin_PROGRAMS += ringtail
# The library's files are compiled in: the installed daemon needs no ldconfig, and ./ringtail is no libtool script.
ringtail_SOURCES = daemon/main.c $(RINGTAIL_SOURCES) $(LIBRINGTAIL_SOURCES)
ringtail_LDFLAGS = $(AM_LDFLAGS) $(PYTHON_LDFLAGS)
ringtail_LDADD = $(RINGTAIL_LIBS)
EXTRA_ringtail_DEPENDENCIES = $(PYTHON_ARCHIVE)

# The Python part of the start, as one string literal.
daemon/python/boot.inc: daemon/python/boot.py
	$(AM_V_GEN)$(MKDIR_P) daemon/python && \
	$(SED) 's/\\/\\\\/g; s/"/\\"/g; s/^/"/; s/$$/\\n"/' $(srcdir)/daemon/python/boot.py >$@.tmp && mv $@.tmp $@
daemon/python/interp.$(OBJEXT): daemon/python/boot.inc
CLEANFILES += daemon/python/boot.inc

endif

EXTRA_DIST += daemon/python/boot.py
