/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_ini.c: the section [ringtail] of an ini file.
 *
 * inih does the grammar, by ini_parse_stream, but as Debian builds it it cuts
 * values at " ;", splits lines over 199 bytes and then miscounts. So our reader
 * gives it each line without its value (which stays here, whole) and counts
 * lines itself. Main thread, at start.
 */
#include <errno.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/config_priv.h"
#include "daemon/foreign.h"
#include "daemon/suggest.h"

#define LINE_LONGEST 8192
/* What inih's buffer of 200 bytes surely takes. */
#define NAME_LONGEST 100

struct reader {
	struct config *config;
	FILE *stream;
	const char *name;
	unsigned line;
	unsigned app_line;
	int status;                /* once set, reading has ended and the message is out */
	char text[LINE_LONGEST + 2];
	char *value;               /* of the line that inih looks at, in text */
};

static int fail(struct reader *reader, int status, const char *message)
{
	fprintf(stderr, "ringtail: %s:%u: %s\n", reader->name, reader->line, message);
	reader->status = status;
	return 0;
}

static char *trim(char *text)
{
	size_t len;

	text += strspn(text, " \t");
	len = strlen(text);
	while (len > 0 && strchr(" \t\r\n", text[len - 1]))
		len--;
	text[len] = 0;
	return text;
}

/* Reads a line into reader->text. False at the end of the file, and after a failure. */
static bool read_line(struct reader *reader)
{
	size_t len = 0;
	int c;

	reader->line++;
	while ((c = getc(reader->stream)) != EOF && c != '\n') {
		if (c == 0) {
			fail(reader, EXIT_CONFIG, "a NUL byte: this is no text file");
			return false;
		}
		if (len == LINE_LONGEST) {
			fail(reader, EXIT_CONFIG, "the line is longer than 8192 bytes (lists may be given by repeating the key)");
			return false;
		}
		reader->text[len++] = (char)c;
	}
	reader->text[len] = 0;
	return c != EOF || len > 0;
}

/* Of "[section]", which only a comment may follow; 0: it is none. */
static size_t section_length(const char *text)
{
	const char *end = strchr(text, ']');
	const char *rest = end ? end + 1 + strspn(end + 1, " \t") : NULL;

	return rest && (!*rest || *rest == '#' || *rest == ';') ? (size_t)(end + 1 - text) : 0;
}

/* ini_reader: what inih shall see of the next line. */
static char *give_line(char *str, int num, void *arg)
{
	struct reader *reader = arg;
	size_t len;
	char *text;

	if (reader->status || !read_line(reader))
		return NULL;
	text = reader->text;
	if (reader->line == 1 && strncmp(text, "\xef\xbb\xbf", 3) == 0)
		text += 3;
	text = trim(text);
	len = strcspn(text, "=:");
	if (!*text || *text == '#' || *text == ';') {
		snprintf(str, (size_t)num, "#\n");
		return str;
	}
	if (*text == '[')
		len = section_length(text);
	else if (!text[len])
		len = 0;
	if (len > NAME_LONGEST || (len == 0 && *text != '=' && *text != ':')) {
		fail(reader, EXIT_CONFIG, "this is neither [ringtail], a comment, nor 'key = value'");
		return NULL;
	}
	reader->value = *text == '[' || !text[len] ? NULL : trim(text + len + 1);
	snprintf(str, (size_t)num, "%.*s%s\n", (int)len, text, reader->value ? "=" : "");
	return str;
}

static int fail_unknown_key(struct reader *reader, const char *key)
{
	const char *remedy = foreign_remedy(key);
	const char *nearest = remedy ? NULL : config_nearest_option(key);
	char message[512];

	if (remedy)
		snprintf(message, sizeof(message), "unknown option '%s': %s", key, remedy);
	else if (nearest)
		snprintf(message, sizeof(message), "unknown option '%s' (did you mean '%s'?)", key, nearest);
	else
		snprintf(message, sizeof(message), "unknown option '%s' (ringtail --print-config lists them)", key);
	return fail(reader, EXIT_CONFIG, message);
}

static int fail_section(struct reader *reader, const char *section)
{
	char message[256];

	if (!*section)
		return fail(reader, EXIT_CONFIG, "an option outside of a section: put a line [ringtail] above it");
	snprintf(message, sizeof(message), "unknown section [%s] (options stand in [ringtail])", section);
	return fail(reader, EXIT_CONFIG, message);
}

static int fail_twice(struct reader *reader, const char *key, unsigned line)
{
	char message[256];

	snprintf(message, sizeof(message), "'%s' was given in line %u already, and takes one value", key, line);
	return fail(reader, EXIT_CONFIG, message);
}

/* ini_handler. 1 = go on. */
static int take(void *arg, const char *section, const char *key, const char *unused)
{
	struct reader *reader = arg;
	struct config_origin origin = { .source = SOURCE_FILE, .line = reader->line, .where = reader->name };
	const struct option_info *option = config_find_option(key);
	bool is_app = strcmp(key, "app") == 0;
	struct value_error error;
	int ret;

	(void)unused;
	if (strcmp(section, "ringtail") != 0)
		return fail_section(reader, section);
	if (!option && !is_app)
		return fail_unknown_key(reader, key);
	if (is_app && config_origin_of_app(reader->config)->source == SOURCE_FILE)
		return fail_twice(reader, key, config_origin_of_app(reader->config)->line);
	if (!is_app && option->type != OPTION_LIST && config_origin_of(reader->config, option)->source == SOURCE_FILE)
		return fail_twice(reader, key, config_origin_of(reader->config, option)->line);
	if (is_app)
		ret = config_set_app(reader->config, reader->value, &origin, &error);
	else
		ret = config_set(reader->config, option, reader->value, &origin, &error);
	if (ret == -ENOMEM)
		return fail(reader, EXIT_FAULT, "out of memory");
	if (ret < 0) {
		char message[VALUE_ERROR_MAX + 128];

		snprintf(message, sizeof(message), "%s: %s", key, error.text);
		return fail(reader, EXIT_CONFIG, message);
	}
	return 1;
}

int config_ini_read_stream(struct config *config, FILE *stream, const char *name)
{
	struct reader *reader = calloc(1, sizeof(*reader));
	int ret, status;

	if (!reader)
		return config_fail(EXIT_FAULT, name, "out of memory");
	reader->config = config;
	reader->stream = stream;
	reader->name = name;
	ret = ini_parse_stream(give_line, reader, take, reader);
	/* give_line has refused what inih could not read; its count of lines is the same as ours. */
	if (!reader->status && ret > 0) {
		reader->line = (unsigned)ret;
		fail(reader, EXIT_CONFIG, "this is neither [ringtail], a comment, nor 'key = value'");
	} else if (!reader->status && ret < 0) {
		fail(reader, EXIT_FAULT, "out of memory");
	} else if (!reader->status && ferror(stream)) {
		fail(reader, EXIT_CONFIG, "cannot be read on");
	}
	status = reader->status;
	free(reader);
	return status;
}

int config_ini_read(struct config *config, const char *path)
{
	FILE *stream = fopen(path, "re");
	int status, c;

	if (!stream && errno == ENOENT)
		return config_fail(EXIT_CONFIG, NULL, "cannot read the configuration %s: there is no such file (--config and RINGTAIL_CONFIG name it)", path);
	if (!stream)
		return config_fail(EXIT_CONFIG, NULL, "cannot read the configuration %s: %s", path, strerror(errno));
	/* A folder can be opened, and fails at the first read. */
	c = getc(stream);
	if (c == EOF && ferror(stream)) {
		status = config_fail(EXIT_CONFIG, NULL, "cannot read the configuration %s: %s", path, strerror(errno));
	} else {
		if (c != EOF)
			ungetc(c, stream);
		status = config_ini_read_stream(config, stream, path);
	}
	fclose(stream);
	return status;
}
