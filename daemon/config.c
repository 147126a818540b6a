/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config.c: from command line, environment and file to one struct config. Owns
 * the order of the sources and the memory of the values; how a text becomes a
 * value is config_value.c's, what options say about each other
 * config_check.c's. Main thread, once, before any other thread exists.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "daemon/cli.h"
#include "daemon/config_priv.h"
#include "daemon/suggest.h"

const struct option_info config_options[] = {
#define OPTION(name, member, letter, type, def, low, high, choices, unit, metavar, help, more) \
	{ name, offsetof(struct config, member), letter, OPTION_##type, def, low, high, choices, unit, metavar, help, more },
#include "options.def"
};
const size_t config_option_count = sizeof(config_options) / sizeof(*config_options);

const struct option_alias config_aliases[] = {
#define ALIAS(alias, name) { alias, name },
#include "options.def"
};
const size_t config_alias_count = sizeof(config_aliases) / sizeof(*config_aliases);

const struct option_info *config_find_option(const char *name)
{
	for (size_t i = 0; i < config_alias_count; i++) {
		if (strcmp(config_aliases[i].alias, name) == 0)
			name = config_aliases[i].name;
	}
	for (size_t i = 0; i < config_option_count; i++) {
		if (strcmp(config_options[i].name, name) == 0)
			return &config_options[i];
	}
	return NULL;
}

const struct option_info *config_find_letter(char letter)
{
	for (size_t i = 0; i < config_option_count; i++) {
		if (config_options[i].letter == letter)
			return &config_options[i];
	}
	return NULL;
}

const char *config_nearest_option(const char *wrong)
{
	struct suggest suggest;

	suggest_init(&suggest, wrong);
	for (size_t i = 0; i < config_option_count; i++)
		suggest_offer(&suggest, config_options[i].name);
	for (size_t i = 0; i < config_alias_count; i++)
		suggest_offer(&suggest, config_aliases[i].alias);
	return suggest.nearest;
}

int config_fail(int status, const char *place, const char *format, ...)
{
	va_list args;

	fprintf(stderr, "ringtail: %s%s", place ? place : "", place ? ": " : "");
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	return status;
}

int config_status_of(const struct config_origin *origin)
{
	return origin->source == SOURCE_FLAG ? EXIT_USAGE : EXIT_CONFIG;
}

/* One more item at the end of a list. */
static int append(struct config_list *list, const char *text, size_t len)
{
	const char **items = reallocarray(list->items, list->count + 1, sizeof(*items));
	char *item = strndup(text, len);

	if (items)
		list->items = items;
	if (!items || !item) {
		free(item);
		return -ENOMEM;
	}
	list->items[list->count++] = item;
	return 0;
}

static void clear(struct config_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free((char *)list->items[i]);
	free(list->items);
	*list = (struct config_list){ 0 };
}

static int set_list(struct config_list *list, const struct option_info *option, const char *text, bool is_replacing, struct value_error *error)
{
	const char *separators = option->choices ? option->choices : "";
	struct config_list items = { 0 };
	int ret = 0;

	for (const char *p = text + strspn(text, separators); *p && ret == 0; p += strspn(p, separators)) {
		size_t len = *separators ? strcspn(p, separators) : strlen(p);

		ret = append(&items, p, len);
		if (ret == 0)
			ret = config_check_text(option, items.items[items.count - 1], error);
		p += len;
	}
	if (ret == 0 && is_replacing)
		clear(list);
	for (size_t i = 0; i < items.count && ret == 0; i++)
		ret = append(list, items.items[i], strlen(items.items[i]));
	clear(&items);
	return ret;
}

static int set_string(const char **member, const struct option_info *option, const char *text, struct value_error *error)
{
	char *copy = NULL;
	int ret;

	if (!*text && option->def) {
		snprintf(error->text, sizeof(error->text), "the value is empty (the default is %s)", option->def);
		return -EINVAL;
	}
	if (*text) {
		ret = config_check_text(option, text, error);
		if (ret < 0)
			return ret;
		copy = strdup(text);
		if (!copy)
			return -ENOMEM;
	}
	free((char *)*member);
	*member = copy;
	return 0;
}

int config_set(struct config *config, const struct option_info *option, const char *text, const struct config_origin *origin,
	       struct value_error *error)
{
	void *member = (char *)config + option->offset;
	struct config_origin *old = config_origin_of(config, option);
	bool is_auto = option->type == OPTION_COUNT && option->def && strcmp(option->def, "auto") == 0 && strcasecmp(text, "auto") == 0;
	uint64_t number = 0;
	int ret = 0;

	switch (option->type) {
	case OPTION_BOOL:
		ret = value_parse_bool(text, member, error);
		break;
	case OPTION_COUNT:
		if (!is_auto)
			ret = value_parse_count(text, option->low, option->high, &number, error);
		if (ret == 0)
			*(uint32_t *)member = (uint32_t)number;
		break;
	case OPTION_SIZE:
		ret = value_parse_size(text, option->low, option->high, member, error);
		break;
	case OPTION_TIME:
		ret = value_parse_time(text, option->low, option->high, member, error);
		break;
	case OPTION_STRING:
		ret = set_string(member, option, text, error);
		break;
	case OPTION_LIST:
		ret = set_list(member, option, text, old->source != origin->source, error);
		break;
	case OPTION_ENUM:
		ret = value_parse_enum(text, option->choices, member, error);
		break;
	case OPTION_MODE:
		ret = value_parse_mode(text, option->high, member, error);
		break;
	}
	if (ret == 0) {
		*old = *origin;
		old->is_auto = is_auto;
	}
	return ret;
}

int config_set_app(struct config *config, const char *text, const struct config_origin *origin, struct value_error *error)
{
	char *copy;

	if (!*text) {
		snprintf(error->text, sizeof(error->text), "the application's name is empty");
		return -EINVAL;
	}
	copy = strdup(text);
	if (!copy)
		return -ENOMEM;
	free((char *)config->app);
	config->app = copy;
	*config_origin_of_app(config) = *origin;
	return 0;
}

static int fail_memory(void)
{
	return config_fail(EXIT_FAULT, NULL, "cannot read the configuration: out of memory");
}

static int set_defaults(struct config *config)
{
	static const struct config_origin origin = { .source = SOURCE_DEFAULT };
	struct value_error error;

	*config = (struct config){ .umask = -1 };
	config->origins = calloc(config_option_count + 1, sizeof(*config->origins));
	if (!config->origins)
		return fail_memory();
	for (size_t i = 0; i < config_option_count; i++) {
		int ret = config_options[i].def ? config_set(config, &config_options[i], config_options[i].def, &origin, &error) : 0;

		if (ret == -ENOMEM)
			return fail_memory();
		if (ret < 0)
			return config_fail(EXIT_FAULT, config_options[i].name, "wrong default: %s", error.text);
	}
	return 0;
}

int config_defaults(struct config *ret_config)
{
	int status = set_defaults(ret_config);

	return status ? status : config_finish(ret_config);
}

/* The convention of platforms that route to whatever port they name. */
static int take_port(struct config *config)
{
	static const struct config_origin origin = { .source = SOURCE_PORT };
	const char *port = getenv("PORT");
	struct value_error error;
	char address[32];
	uint64_t number;
	int ret;

	if (!port || !*port || config_origin_of(config, config_find_option("bind"))->source > SOURCE_PORT)
		return 0;
	if (value_parse_count(port, 1, 65535, &number, &error) < 0)
		return config_fail(EXIT_CONFIG, "environment variable PORT", "%s (unset it, or give --bind)", error.text);
	snprintf(address, sizeof(address), "0.0.0.0:%u", (unsigned)number);
	ret = config_set(config, config_find_option("bind"), address, &origin, &error);
	return ret == 0 ? 0 : fail_memory();
}

static int take_flags(struct config *config, const struct cli *cli)
{
	static const struct config_origin origin = { .source = SOURCE_FLAG };
	struct value_error error;
	int ret;

	for (size_t i = 0; i < cli->setting_count; i++) {
		const struct cli_setting *setting = &cli->settings[i];

		ret = config_set(config, setting->option, setting->value, &origin, &error);
		if (ret == -ENOMEM)
			return fail_memory();
		if (ret < 0)
			return config_fail(EXIT_USAGE, setting->flag, "%s", error.text);
	}
	if (!cli->app)
		return 0;
	ret = config_set_app(config, cli->app, &origin, &error);
	if (ret == -ENOMEM)
		return fail_memory();
	return ret < 0 ? config_fail(EXIT_USAGE, "APP", "%s", error.text) : 0;
}

static int read_sources(struct config *config, const struct cli *cli)
{
	int status;

	config->config_file = cli->config_file;
	if (!config->config_file) {
		config->config_file = getenv("RINGTAIL_CONFIG");
		if (config->config_file && !*config->config_file)
			config->config_file = NULL;
	}
	status = config->config_file ? config_ini_read(config, config->config_file) : 0;
	if (status == 0)
		status = config_environment_read(config, environ);
	if (status == 0)
		status = take_flags(config, cli);
	if (status == 0)
		status = take_port(config);
	return status;
}

int config_load(int argc, char **argv, struct config *ret_config)
{
	struct cli cli;
	int status;

	*ret_config = (struct config){ .umask = -1 };
	status = cli_parse(argc, argv, &cli);
	if (status == 0) {
		if (cli.command != COMMAND_HELP && cli.command != COMMAND_VERSION) {
			status = set_defaults(ret_config);
			if (status == 0)
				status = read_sources(ret_config, &cli);
			if (status == 0)
				status = config_finish(ret_config);
		}
		ret_config->command = cli.command;
		ret_config->is_check = cli.is_check;
		ret_config->is_print_config = cli.is_print_config;
	}
	if (status == 0 && (cli.command == COMMAND_SERVE || cli.command == COMMAND_CHECK) && !ret_config->app)
		status = config_fail(EXIT_USAGE, NULL, "no application given: name one, as in 'ringtail mysite.wsgi:application' or 'ringtail app.py'"
				     " (see ringtail --help)");
	cli_done(&cli);
	return status;
}

void config_done(struct config *config)
{
	for (size_t i = 0; i < config_option_count; i++) {
		void *member = (char *)config + config_options[i].offset;

		if (config_options[i].type == OPTION_STRING)
			free(*(char **)member);
		else if (config_options[i].type == OPTION_LIST)
			clear(member);
	}
	free((char *)config->app);
	free(config->origins);
	*config = (struct config){ .umask = -1 };
}

int config_refuse(const struct config *config, const char *name, const char *format, ...)
{
	const struct option_info *option = config_find_option(name);
	const struct config_origin *origin = config_origin_of(config, option);
	char place[512], text[1024];
	va_list args;

	config_origin_text(origin, option, place, sizeof(place));
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (origin->source == SOURCE_FILE)
		return config_fail(EXIT_CONFIG, place, "%s: %s", name, text);
	return config_fail(config_status_of(origin), place, "%s", text);
}

const char *config_origin_text(const struct config_origin *origin, const struct option_info *option, char *buffer, size_t size)
{
	char variable[64];

	switch (origin->source) {
	case SOURCE_DEFAULT:
		snprintf(buffer, size, "default");
		break;
	case SOURCE_PORT:
		snprintf(buffer, size, "environment variable PORT");
		break;
	case SOURCE_FILE:
		snprintf(buffer, size, "%s:%u", origin->where, origin->line);
		break;
	case SOURCE_ENVIRONMENT:
		snprintf(buffer, size, "environment variable %s", config_env_name(option ? option->name : "app", variable));
		break;
	case SOURCE_FLAG:
		if (option)
			snprintf(buffer, size, "--%s", option->name);
		else
			snprintf(buffer, size, "argument");
		break;
	case SOURCE_DERIVED:
		snprintf(buffer, size, "from %s", origin->where);
		break;
	}
	return buffer;
}
