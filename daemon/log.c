/* SPDX-License-Identifier: Apache-2.0 */
/* log.c: makes lines of the error log; log_writer.c takes them to their file. Any thread. */
#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "config.h"
#include "escape.h"
#include "lib/clock.h"
#include "log.h"
#include "log_writer.h"

#define ERROR_BUFFER (1024u * 1024u)
/* Some tenths of a second at full rate; untouched memory costs nothing. */
#define ACCESS_BUFFER (4u * 1024u * 1024u)
/* A text beyond it is cut: it must leave room in the buffer for others. */
#define TEXT_MAX (64u * 1024u)
#define PREFIX_MAX 160u
#define CUT " ... (cut)"

static const char *const level_names[] = { "error", "warning", "info", "debug" };

static _Atomic int level_limit = LOG_INFO;
static bool is_json;

/* "time level" part of a line, up to where the message begins. */
static size_t put_prefix(char *buf, enum log_level level)
{
	struct timespec now;
	struct tm tm;
	size_t len;

	clock_gettime(CLOCK_REALTIME, &now);
	localtime_r(&now.tv_sec, &tm);
	if (!is_json) {
		len = strftime(buf, PREFIX_MAX, "%Y-%m-%d %H:%M:%S", &tm);
		len += (size_t)snprintf(buf + len, PREFIX_MAX - len, ".%03ld ringtail[%d] %s: ", now.tv_nsec / 1000000, (int)getpid(),
					level_names[level]);
		return len;
	}
	len = strftime(buf, PREFIX_MAX, "{\"time\":\"%Y-%m-%dT%H:%M:%S", &tm);
	len += (size_t)snprintf(buf + len, PREFIX_MAX - len, ".%03ld%c%02ld:%02ld\",\"level\":\"%s\",\"pid\":%d,\"message\":\"",
				now.tv_nsec / 1000000, tm.tm_gmtoff < 0 ? '-' : '+', labs(tm.tm_gmtoff) / 3600,
				labs(tm.tm_gmtoff) / 60 % 60, level_names[level], (int)getpid());
	return len;
}

/* Room for a message of len bytes as a line. */
static size_t line_size(size_t len)
{
	return PREFIX_MAX + ESCAPE_JSON_MAX * len + sizeof(CUT) + 4;
}

static size_t make_line(char *buf, enum log_level level, const char *text, size_t len, bool keep_lines, bool is_cut)
{
	size_t at = put_prefix(buf, level);

	while (len && text[len - 1] == '\n')
		len--;
	at += is_json ? escape_json(buf + at, text, len) : escape_message(buf + at, text, len, keep_lines);
	if (is_cut) {
		memcpy(buf + at, CUT, sizeof(CUT) - 1);
		at += sizeof(CUT) - 1;
	}
	if (is_json) {
		buf[at++] = '"';
		buf[at++] = '}';
	}
	buf[at++] = '\n';
	return at;
}

static void put(enum log_level level, const char *text, size_t len, bool keep_lines)
{
	char small[2048], *line = small;
	bool is_cut = len > TEXT_MAX;
	size_t line_len;

	if (is_cut)
		len = TEXT_MAX;
	if (line_size(len) > sizeof(small)) {
		line = malloc(line_size(len));
		if (!line) {
			line = small;
			len = (sizeof(small) - line_size(0)) / ESCAPE_JSON_MAX;
			is_cut = true;
		}
	}
	line_len = make_line(line, level, text, len, keep_lines, is_cut);
	log_writer_put(SINK_ERROR, line, line_len, true);
	if (line != small)
		free(line);
}

/* Lines of the writer about itself. */
static size_t make_notice(char *buf, size_t cap, const char *text)
{
	size_t len = strlen(text);

	if (line_size(len) > cap)
		len = cap > line_size(0) ? (cap - line_size(0)) / ESCAPE_JSON_MAX : 0;
	return make_line(buf, LOG_ERROR, text, len, false, false);
}

static bool is_place(const char *where)
{
	return !where || (strncmp(where, "syslog:", 7) != 0 && strcmp(where, "journal") != 0);
}

static int check_places(const struct config *config)
{
	if (is_place(config->access_log) && is_place(config->error_log))
		return 0;
	log_error("%s", is_place(config->error_log) ? "access-log: unknown value (off, - or a path; ./journal for a file of that name)" :
						      "error-log: unknown value (stderr or a path; ./journal for a file of that name)");
	return -EINVAL;
}

static const char *access_place(const struct config *config)
{
	return config->access_log && *config->access_log ? config->access_log : "off";
}

static const char *error_place(const struct config *config)
{
	return config->error_log && *config->error_log ? config->error_log : "stderr";
}

/* r: of opening it, which failed when < 0. */
static int opened(const char *option, const char *where, int r, const char *why)
{
	if (r < 0)
		log_error("cannot open the %s %s: %s (%s)", option, where, strerror(-r), why);
	return r;
}

static int open_sink(enum log_sink sink, const char *option, const char *where, size_t buffer)
{
	const char *why = "";
	int r = log_writer_open(sink, where, buffer, &why);

	return opened(option, where, r, why);
}

static int probe(const char *option, const char *where)
{
	const char *why = "";
	int r = log_writer_probe(where, &why);

	return opened(option, where, r, why);
}

int log_check(const struct config *config)
{
	int r = check_places(config);

	if (r == 0 && strcmp(access_place(config), "off") != 0)
		r = probe("access-log", access_place(config));
	return r < 0 ? r : probe("error-log", error_place(config));
}

int log_start(const struct config *config)
{
	/* Said on standard error, as long as nothing is open. */
	int r = check_places(config);

	if (r < 0)
		return r;
	if (strcmp(access_place(config), "off") != 0) {
		r = open_sink(SINK_ACCESS, "access-log", access_place(config), ACCESS_BUFFER);
		if (r < 0)
			return r;
	}
	r = open_sink(SINK_ERROR, "error-log", error_place(config), ERROR_BUFFER);
	if (r < 0)
		return r;
	is_json = config->log_format == LOG_FORMAT_JSON;
	atomic_store_explicit(&level_limit, config->log_level, memory_order_relaxed);
	r = log_writer_start(make_notice);
	if (r < 0)
		log_error("cannot start the log's thread: %s (see the limits of processes and memory)", strerror(-r));
	return r;
}

void log_stop(void)
{
	log_writer_stop(2 * RTAIL_S);
}

void log_after_fork(void)
{
	log_writer_after_fork();
}

void log_reopen(void)
{
	log_writer_reopen();
}

bool log_is_on(enum log_level level)
{
	return (int)level <= atomic_load_explicit(&level_limit, memory_order_relaxed);
}

void log_line(enum log_level level, const char *format, ...)
{
	char small[1024], *text = small;
	va_list args;
	int len;

	if (!log_is_on(level))
		return;
	va_start(args, format);
	len = vsnprintf(small, sizeof(small), format, args);
	va_end(args);
	if (len < 0)
		return;
	if ((size_t)len >= sizeof(small)) {
		text = malloc((size_t)len + 1);
		if (text) {
			va_start(args, format);
			vsnprintf(text, (size_t)len + 1, format, args);
			va_end(args);
		} else {
			text = small;
			len = sizeof(small) - 1;
		}
	}
	put(level, text, (size_t)len, false);
	if (text != small)
		free(text);
}

void log_text(enum log_level level, const char *text, size_t len)
{
	if (log_is_on(level))
		put(level, text, len, true);
}

uint64_t log_dropped(void)
{
	return log_writer_dropped();
}
