/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_environment.c: RINGTAIL_NAME variables. A name that is no option's is
 * an error, so that a misspelt limit is not silently the default; an empty
 * value counts as not set. Main thread, at start.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "daemon/config_priv.h"
#include "daemon/foreign.h"
#include "daemon/suggest.h"

#define PREFIX "RINGTAIL_"

const char *config_env_name(const char *option, char *buffer)
{
	char *p = buffer + snprintf(buffer, 64, PREFIX);

	for (; *option && p < buffer + 63; option++)
		*p++ = *option == '-' ? '_' : (char)toupper((unsigned char)*option);
	*p = 0;
	return buffer;
}

static const struct option_info *find_option(const char *variable)
{
	char name[64];

	for (size_t i = 0; i < config_alias_count; i++) {
		if (strcmp(config_env_name(config_aliases[i].alias, name), variable) == 0)
			return config_find_option(config_aliases[i].name);
	}
	for (size_t i = 0; i < config_option_count; i++) {
		if (strcmp(config_env_name(config_options[i].name, name), variable) == 0)
			return &config_options[i];
	}
	return NULL;
}

static int fail_unknown(const char *place, const char *variable)
{
	const char *word = variable + strlen(PREFIX);
	char lower[64], name[64];
	const char *remedy;
	struct suggest suggest;
	size_t i = 0;

	for (; word[i] && i < sizeof(lower) - 1; i++)
		lower[i] = word[i] == '_' ? '-' : (char)tolower((unsigned char)word[i]);
	lower[i] = 0;
	remedy = foreign_remedy(lower);
	if (remedy)
		return config_fail(EXIT_CONFIG, place, "unknown option: %s", remedy);
	suggest_init(&suggest, lower);
	for (i = 0; i < config_option_count; i++)
		suggest_offer(&suggest, config_options[i].name);
	for (i = 0; i < config_alias_count; i++)
		suggest_offer(&suggest, config_aliases[i].alias);
	suggest_offer(&suggest, "app");
	suggest_offer(&suggest, "config");
	if (suggest.nearest)
		return config_fail(EXIT_CONFIG, place, "unknown option (did you mean %s?)", config_env_name(suggest.nearest, name));
	return config_fail(EXIT_CONFIG, place, "unknown option (variables that begin with " PREFIX " are ringtail's: rename or unset it)");
}

static int take(struct config *config, const char *entry)
{
	static const struct config_origin origin = { .source = SOURCE_ENVIRONMENT };
	const char *value = strchr(entry, '=');
	const struct option_info *option;
	struct value_error error;
	char variable[128], place[160];
	int ret;

	if (!value || strncmp(entry, PREFIX, strlen(PREFIX)) != 0)
		return 0;
	snprintf(variable, sizeof(variable), "%.*s", (int)(value - entry), entry);
	snprintf(place, sizeof(place), "environment variable %s", variable);
	value++;
	if (strcmp(variable, PREFIX "CONFIG") == 0)
		return 0;
	option = find_option(variable);
	if (!option && strcmp(variable, PREFIX "APP") != 0)
		return fail_unknown(place, variable);
	if (!*value)
		return 0;
	ret = option ? config_set(config, option, value, &origin, &error) : config_set_app(config, value, &origin, &error);
	if (ret == -ENOMEM)
		return config_fail(EXIT_FAULT, place, "out of memory");
	return ret < 0 ? config_fail(EXIT_CONFIG, place, "%s", error.text) : 0;
}

int config_environment_read(struct config *config, char **environment)
{
	int status = 0;

	for (char **entry = environment; entry && *entry && status == 0; entry++)
		status = take(config, *entry);
	return status;
}
