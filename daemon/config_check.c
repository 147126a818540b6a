/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_check.c: what a type alone does not say: the form of single options,
 * what options say about each other, and the values that follow from the
 * machine or from another option. Main thread, at start.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/access_log_format.h"
#include "daemon/allowed_cpus.h"
#include "daemon/bind_address.h"
#include "daemon/cidr.h"
#include "daemon/config_priv.h"

#define THREADS_MAX_DEFAULT 64
#define THREADS_AUTO_MOST 8

static int fail(struct value_error *error, const char *text, const char *why)
{
	snprintf(error->text, sizeof(error->text), "'%.200s' %s", text, why);
	return -EINVAL;
}

static int check_script_name(const char *text, struct value_error *error)
{
	if (text[0] != '/')
		return fail(error, text, "does not begin with '/' (as in /blog)");
	if (text[1] && text[strlen(text) - 1] == '/')
		return fail(error, text, "ends with '/': write it without (as in /blog)");
	if (strstr(text, "//") || strpbrk(text, "?#%"))
		return fail(error, text, "is not a plain path: empty parts, '?', '#' and '%' cannot be in it");
	for (const char *p = text; *p; p++) {
		if ((unsigned char)*p <= ' ' || *p == 0x7f)
			return fail(error, text, "has a space or control character in it");
	}
	return 0;
}

static int check_env(const char *text, struct value_error *error)
{
	size_t len = strcspn(text, "=");

	if (text[len] != '=' || len == 0)
		return fail(error, text, "is not of the form NAME=VALUE");
	return 0;
}

static int check_proxy(const char *text, struct value_error *error)
{
	struct cidr cidr;

	if (strcmp(text, "unix") == 0 || cidr_parse(text, &cidr) == 0)
		return 0;
	if (strcmp(text, "*") == 0)
		return fail(error, text, "is no network: 0.0.0.0/0 and ::/0 are all addresses, which lets any client name its own");
	return fail(error, text, "is no network (10.0.0.0/8, ::1) and not unix");
}

static int check_access_format(const char *text, struct value_error *error)
{
	struct access_format format;
	const char *why;
	int ret = access_format_compile(text, &format, &why);

	if (ret == 0)
		access_format_done(&format);
	else
		snprintf(error->text, sizeof(error->text), "%s", why);
	return ret;
}

int config_check_text(const struct option_info *option, const char *text, struct value_error *error)
{
	struct bind_address address;

	if (strcmp(option->name, "bind") == 0)
		return bind_address_parse(text, &address, error->text, sizeof(error->text));
	if (strcmp(option->name, "script-name") == 0)
		return check_script_name(text, error);
	if (strcmp(option->name, "env") == 0)
		return check_env(text, error);
	if (strcmp(option->name, "trusted-proxies") == 0)
		return check_proxy(text, error);
	if (strcmp(option->name, "access-log-format") == 0)
		return check_access_format(text, error);
	return 0;
}

static struct config_origin *origin_of(struct config *config, const char *name)
{
	return config_origin_of(config, config_find_option(name));
}

static bool is_given(const struct config_origin *origin)
{
	return origin->source != SOURCE_DEFAULT && !origin->is_auto;
}

static void derive(struct config_origin *origin, const char *from)
{
	*origin = (struct config_origin){ .source = SOURCE_DERIVED, .where = from };
}

static int finish_debug(struct config *config)
{
	static const char *const timeouts[] = { "header-timeout", "body-timeout", "idle-timeout", "write-timeout" };
	static const char *const threads[] = { "threads", "threads-max" };

	for (size_t i = 0; i < 2; i++) {
		const struct option_info *option = config_find_option(threads[i]);
		struct config_origin *origin = config_origin_of(config, option);
		uint32_t *value = (uint32_t *)((char *)config + option->offset);

		if (origin->source == SOURCE_FLAG && is_given(origin) && *value != 1) {
			char flag[32];

			snprintf(flag, sizeof(flag), "--%s", threads[i]);
			return config_fail(EXIT_USAGE, flag, "%u does not go together with debug, which means one thread: leave one of them out", *value);
		}
		*value = 1;
		derive(origin, "debug");
	}
	for (size_t i = 0; i < sizeof(timeouts) / sizeof(*timeouts); i++) {
		const struct option_info *option = config_find_option(timeouts[i]);
		struct config_origin *origin = config_origin_of(config, option);

		if (origin->source == SOURCE_FLAG)
			continue;
		*(uint64_t *)((char *)config + option->offset) = 0;
		derive(origin, "debug");
	}
	return 0;
}

/* Names the place of the stronger of the two, and the other behind its value. */
static int fail_threads(struct config *config, const char *max_is, const char *threads_is)
{
	const struct option_info *options[2] = { config_find_option("threads"), config_find_option("threads-max") };
	uint32_t values[2] = { config->threads, config->threads_max };
	const struct config_origin *origins[2] = { config_origin_of(config, options[0]), config_origin_of(config, options[1]) };
	unsigned strong = origins[1]->source >= origins[0]->source, weak = !strong;
	char place[512], other[512];

	config_origin_text(origins[strong], options[strong], place, sizeof(place));
	config_origin_text(origins[weak], options[weak], other, sizeof(other));
	return config_fail(config_status_of(origins[strong]), place, "%s %u %s %s (%u, %s)", options[strong]->name, values[strong],
			   strong ? max_is : threads_is, options[weak]->name, values[weak], other);
}

static int finish_threads(struct config *config)
{
	struct config_origin *threads = origin_of(config, "threads"), *max = origin_of(config, "threads-max");

	if (!is_given(threads)) {
		config->threads = config->allowed_cpus < THREADS_AUTO_MOST ? config->allowed_cpus : THREADS_AUTO_MOST;
		if (is_given(max) && config->threads_max == 0)
			return fail_threads(config, "is less than", "is more than");
		if (is_given(max) && config->threads_max < config->threads)
			config->threads = config->threads_max;
	}
	if (!is_given(max)) {
		config->threads_max = is_given(threads) ? config->threads : THREADS_MAX_DEFAULT;
		if (is_given(threads))
			derive(max, "threads");
	}
	if (config->threads_max < config->threads)
		return fail_threads(config, "is less than", "is more than");
	if (config->threads == 0 && config->threads_max > 0)
		return fail_threads(config, "does not go together with views on the loop thread:", "means views on the loop thread, which does not go together with");
	return 0;
}

int config_finish(struct config *config)
{
	const struct config_origin *bind = origin_of(config, "bind");
	int status = 0;

	config->allowed_cpus = allowed_cpus();
	config->is_threads_given = is_given(origin_of(config, "threads"));
	config->is_bind_given = bind->source > SOURCE_PORT;
	if (config->debug)
		status = finish_debug(config);
	if (status == 0)
		status = finish_threads(config);
	if (status == 0 && config->bind.count == 0) {
		char place[512];

		status = config_fail(config_status_of(bind), config_origin_text(bind, config_find_option("bind"), place, sizeof(place)),
				     "there is no address to listen on (127.0.0.1:8000 is the default)");
	}
	if (status == 0 && config->script_name && strcmp(config->script_name, "/") == 0) {
		free((char *)config->script_name);
		config->script_name = NULL;
	}
	return status;
}
