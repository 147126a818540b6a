/* SPDX-License-Identifier: Apache-2.0 */
/*
 * env_file.c: --env and --env-file. Lines as systemd's EnvironmentFile and
 * docker's --env-file have in common; nothing is expanded, and a line that
 * would mean different things to the two is refused. Main thread, at start.
 */
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/config.h"
#include "daemon/env_file.h"
#include "daemon/start_error.h"

struct variable {
	char *name;
	char *value;
};

struct variables {
	struct variable *items;
	size_t count;
};

/* What is wrong with the line, or NULL; *ret_name NULL: an empty line or a comment. line is written to. */
static const char *split(char *line, char **ret_name, const char **ret_value)
{
	char *name = line + strspn(line, " \t");
	size_t len = strlen(name);
	char *value;

	while (len > 0 && strchr(" \t\r\n", name[len - 1]))
		len--;
	name[len] = 0;
	*ret_name = NULL;
	if (!*name || *name == '#' || *name == ';')
		return NULL;
	if (strncmp(name, "export ", 7) == 0)
		name += 7 + strspn(name + 7, " \t");
	value = strchr(name, '=');
	if (!value)
		return "this is neither NAME=VALUE nor a comment";
	*value++ = 0;
	if (!isalpha((unsigned char)*name) && *name != '_')
		return "the name of a variable begins with a letter or _";
	for (const char *p = name; *p; p++) {
		if (!isalnum((unsigned char)*p) && *p != '_')
			return "the name of a variable has letters, digits and _ only";
	}
	if (*value == '"' || *value == '\'') {
		char *end = strrchr(value + 1, *value);

		if (!end || end[1] || memchr(value + 1, *value, (size_t)(end - value) - 1))
			return "the value begins with a quote that is not closed at its end";
		*end = 0;
		value++;
	}
	*ret_name = name;
	*ret_value = value;
	return NULL;
}

static int keep(struct variables *all, const char *name, const char *value)
{
	struct variable *items = reallocarray(all->items, all->count + 1, sizeof(*items));
	struct variable *item;

	if (!items)
		return -ENOMEM;
	all->items = items;
	item = &items[all->count];
	item->name = strdup(name);
	item->value = strdup(value);
	if (!item->name || !item->value) {
		free(item->name);
		free(item->value);
		return -ENOMEM;
	}
	all->count++;
	return 0;
}

static int read_all(const char *path, FILE *file, struct variables *all)
{
	char *line = NULL, *name;
	const char *value, *wrong = NULL;
	size_t size = 0;
	unsigned number = 0;
	ssize_t len;
	int status = 0;

	while (status == 0 && (len = getline(&line, &size, file)) >= 0) {
		number++;
		if (memchr(line, 0, (size_t)len))
			wrong = "a NUL byte: this is no text file";
		else
			wrong = split(line, &name, &value);
		if (wrong) {
			start_error("%s:%u: %s", path, number, wrong);
			status = 78;
		} else if (name && keep(all, name, value) < 0) {
			start_error("cannot read %s: out of memory", path);
			status = 70;
		}
	}
	if (status == 0 && ferror(file))
		status = -errno;
	free(line);
	return status;
}

int env_file_apply(const char *path)
{
	struct variables all = { 0 };
	FILE *file = fopen(path, "re");
	int status;

	if (!file)
		return -errno;
	status = read_all(path, file, &all);
	fclose(file);
	for (size_t i = 0; i < all.count; i++) {
		if (status == 0 && setenv(all.items[i].name, all.items[i].value, 1) < 0) {
			start_error("cannot set %s of %s: %s", all.items[i].name, path, strerror(errno));
			status = 78;
		}
		free(all.items[i].name);
		free(all.items[i].value);
	}
	free(all.items);
	return status;
}

int env_list_apply(const struct config_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		const char *value = strchr(list->items[i], '=');
		char *name = strndup(list->items[i], (size_t)(value - list->items[i]));

		if (!name || setenv(name, value + 1, 1) < 0) {
			start_error("cannot set the environment variable '%s': %s", list->items[i], strerror(errno));
			free(name);
			return 70;
		}
		free(name);
	}
	return 0;
}
