# Manual pages and the documents that are installed.

if BUILD_DAEMON

# ringtail(1): its list of options is made from the table that the daemon is made from, by a tool that is built first.
noinst_PROGRAMS += docs/manpage
docs_manpage_SOURCES = docs/manpage.c \
	daemon/access_log_format.c \
	daemon/allowed_cpus.c \
	daemon/bind_address.c \
	daemon/cidr.c \
	daemon/cli.c \
	daemon/config.c \
	daemon/config_check.c \
	daemon/config_environment.c \
	daemon/config_ini.c \
	daemon/config_print.c \
	daemon/config_value.c \
	daemon/foreign.c \
	daemon/suggest.c
docs_manpage_LDADD = $(INIH_LIBS)

docs/ringtail.1: docs/ringtail.1.in docs/manpage$(EXEEXT)
	$(AM_V_GEN)$(MKDIR_P) docs && ./docs/manpage$(EXEEXT) <$(srcdir)/docs/ringtail.1.in >$@.tmp && mv $@.tmp $@

man_MANS = docs/ringtail.1
CLEANFILES += docs/ringtail.1

endif

EXTRA_DIST += docs/ringtail.1.in
