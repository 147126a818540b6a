/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_priv.h: what the files of the configuration share: the table of
 * options as data, where a value came from, and the one place where a text
 * becomes a member (config_set). Main thread, during start.
 */
#ifndef RINGTAIL_CONFIG_PRIV_H
#define RINGTAIL_CONFIG_PRIV_H

#include <stdio.h>

#include "daemon/config.h"
#include "daemon/config_value.h"

#define EXIT_USAGE 64
#define EXIT_FAULT 70
#define EXIT_CONFIG 78

enum option_type {
	OPTION_BOOL,
	OPTION_COUNT,
	OPTION_SIZE,
	OPTION_TIME,
	OPTION_STRING,
	OPTION_LIST,
	OPTION_ENUM,
	OPTION_MODE,
};

/* A row of options.def. */
struct option_info {
	const char *name;
	size_t offset; /* of the member in struct config */
	char letter;
	enum option_type type;
	const char *def;
	uint64_t low, high;
	const char *choices;
	const char *unit;
	const char *metavar;
	const char *help;
	const char *more;
};

struct option_alias {
	const char *alias;
	const char *name;
};

/* Sources, weakest first. */
enum config_source {
	SOURCE_DEFAULT,
	SOURCE_PORT,
	SOURCE_FILE,
	SOURCE_ENVIRONMENT,
	SOURCE_FLAG,
	SOURCE_DERIVED, /* from another option: where tells which */
};

struct config_origin {
	enum config_source source;
	unsigned line;     /* SOURCE_FILE */
	const char *where; /* SOURCE_FILE: its path; SOURCE_DERIVED: from what. Outlives the config. */
	bool is_auto;      /* COUNT: "auto" was given */
};

extern const struct option_info config_options[];
extern const size_t config_option_count;
extern const struct option_alias config_aliases[];
extern const size_t config_alias_count;

/* By name or alias; NULL. */
const struct option_info *config_find_option(const char *name);
const struct option_info *config_find_letter(char letter);

/* Nearest name of an option (or alias) to a wrong one; NULL. */
const char *config_nearest_option(const char *wrong);

/* "RINGTAIL_MAX_BODY" of "max-body"; buffer holds 64 bytes and is returned. */
const char *config_env_name(const char *option, char *buffer);

/* Where a value came from, in words: "default", "/etc/x.ini:3", "environment variable X", "--flag". option NULL: the application. */
const char *config_origin_text(const struct config_origin *origin, const struct option_info *option, char *buffer, size_t size);

/* 64 for what a flag said, 78 for the rest. */
int config_status_of(const struct config_origin *origin);

static inline struct config_origin *config_origin_of(const struct config *config, const struct option_info *option)
{
	return &config->origins[option - config_options];
}

static inline struct config_origin *config_origin_of_app(const struct config *config)
{
	return &config->origins[config_option_count];
}

/*
 * Sets one option. A higher source replaces, the same source replaces a scalar and appends to a list. 0, -EINVAL or -ERANGE (error
 * says why), -ENOMEM.
 */
int config_set(struct config *config, const struct option_info *option, const char *text, const struct config_origin *origin,
	       struct value_error *error);

int config_set_app(struct config *config, const char *text, const struct config_origin *origin, struct value_error *error);

/* Beyond the type: what one option's text must be. 0 or -EINVAL. */
int config_check_text(const struct option_info *option, const char *text, struct value_error *error);

/* What options say about each other, and values that depend on the machine. 0 or an exit status after the message. */
int config_finish(struct config *config);

/* One line on standard error: "ringtail: PLACE: message" (place NULL: none). Returns status. */
int config_fail(int status, const char *place, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* config_ini.c. Reads [ringtail] of a file into config. 0 or an exit status after the message. */
int config_ini_read(struct config *config, const char *path);

/* config_ini.c, the same from an open stream. name is how messages call it. */
int config_ini_read_stream(struct config *config, FILE *stream, const char *name);

/* config_environment.c. RINGTAIL_* of environ, a NULL-terminated array (or NULL: clearenv). 0 or an exit status after the message. */
int config_environment_read(struct config *config, char **environment);

#endif
