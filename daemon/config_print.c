/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_print.c: options.def as text for people: --help, --print-config and
 * the manual's list. Main thread, at start; the manual's at build time.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "daemon/config_print.h"
#include "daemon/config_priv.h"

#define WIDTH 80
#define HELP_COLUMN 30

/* The table in its order, headings included. */
static const struct {
	const char *group;
	const char *option;
} rows[] = {
#define GROUP(title) { title, NULL },
#define OPTION(name, ...) { NULL, name },
#include "options.def"
};
#define ROWS (sizeof(rows) / sizeof(*rows))

static const struct {
	const char *flags;
	const char *help;
	const char *more;
} command_flags[] = {
	{ "--config FILE", "read options from the section [ringtail] of an ini file",
	  "Also the environment variable RINGTAIL_CONFIG." },
	{ "--check", "import the application, check the configuration, exit", "The exit status is 0 when it could be served. Nothing is listened on." },
	{ "--print-config", "print every option, its value and where it came from", "Together with --check both are done." },
	{ "--doctor", "print what this machine allows, and what to do about the rest", "The exit status is 0 when serving is possible, else 1." },
	{ "--version", "print the version", "" },
	{ "-h, --help", "print this", "" },
};

/* Prints text from column on, wrapped before WIDTH; the cursor stands at start. */
static void print_wrapped(FILE *out, const char *text, int start, int column)
{
	int at = start;

	while (*text) {
		int len = (int)strcspn(text, " ");

		if (at > column && at + 1 + len > WIDTH) {
			fputc('\n', out);
			at = 0;
		}
		if (at < column)
			at += fprintf(out, "%*s", column - at, "");
		else if (at > column)
			at += fprintf(out, " ");
		at += fprintf(out, "%.*s", len, text);
		text += len + strspn(text + len, " ");
	}
	fputc('\n', out);
}

static void print_flag(FILE *out, const char *flags, const char *help)
{
	int at = fprintf(out, "  %s", flags);

	if (at >= HELP_COLUMN) {
		fputc('\n', out);
		at = 0;
	}
	print_wrapped(out, help, at, HELP_COLUMN);
}

static const char *alias_of(const struct option_info *option)
{
	for (size_t i = 0; i < config_alias_count; i++) {
		if (strcmp(config_aliases[i].name, option->name) == 0)
			return config_aliases[i].alias;
	}
	return NULL;
}

static const char *default_of(const struct option_info *option)
{
	if (!option->def || (option->type == OPTION_COUNT && strcmp(option->def, "auto") == 0) || strcmp(option->name, "threads-max") == 0)
		return NULL;
	return option->def;
}

/* "pool-wake WHICH" -> "auto|ring|futex" when that is short. */
static const char *operand_of(const struct option_info *option, char *buffer, size_t size)
{
	if (option->type == OPTION_ENUM && strlen(option->choices) <= 16)
		snprintf(buffer, size, "%s", option->choices);
	else
		snprintf(buffer, size, "%s", option->metavar ? option->metavar : "");
	return buffer;
}

static void print_option(FILE *out, const struct option_info *option)
{
	const char *def = default_of(option);
	char flags[96], operand[32], help[512];
	size_t at;

	operand_of(option, operand, sizeof(operand));
	if (option->letter)
		at = (size_t)snprintf(flags, sizeof(flags), "-%c, ", option->letter);
	else
		at = 0;
	if (option->type == OPTION_BOOL && strcmp(option->def, "on") == 0)
		snprintf(flags + at, sizeof(flags) - at, "--[no-]%s", option->name);
	else
		snprintf(flags + at, sizeof(flags) - at, "--%s%s%s", option->name, *operand ? " " : "", operand);
	if (def && (option->type != OPTION_BOOL || strcmp(def, "on") == 0))
		snprintf(help, sizeof(help), "%s [%s]", option->help, def);
	else
		snprintf(help, sizeof(help), "%s", option->help);
	print_flag(out, flags, help);
}

void config_print_help(FILE *out)
{
	fputs("Usage: ringtail [OPTION]... APP\n"
	      "Serves a WSGI application over HTTP/1.1.\n"
	      "\n"
	      "APP is one of\n"
	      "  mysite.wsgi                 a module: MODULE.wsgi:application,\n"
	      "                              MODULE:application, MODULE:app are tried\n"
	      "  mysite.wsgi:application     an attribute of a module\n"
	      "  app.py                      a file with 'application' or 'app' in it\n"
	      "  'mysite:create_app()'       a factory\n"
	      "  null:                       a fixed answer without Python, to measure the\n"
	      "                              server alone\n"
	      "\n"
	      "Each option is also a key of --config's file (threads = 4) and an\n"
	      "environment variable (RINGTAIL_THREADS=4). A flag goes before the\n"
	      "environment, the environment before the file. Sizes take k, m, g; times us,\n"
	      "ms, s, m, h (seconds without a unit). Defaults are in [brackets].\n"
	      "\n"
	      "Commands and files\n",
	      out);
	for (size_t i = 0; i < sizeof(command_flags) / sizeof(*command_flags); i++)
		print_flag(out, command_flags[i].flags, command_flags[i].help);
	for (size_t i = 0; i < ROWS; i++) {
		if (rows[i].group)
			fprintf(out, "\n%s\n", rows[i].group);
		else
			print_option(out, config_find_option(rows[i].option));
	}
	fputs("\nThe manual: man ringtail\n", out);
}

/* The value as it would be written in a file; lists item by item. */
static void print_value(const struct config *config, const struct option_info *option, size_t item, char *buffer, size_t size)
{
	const void *member = (const char *)config + option->offset;
	const struct config_list *list = member;
	const char *text = NULL;
	char number[64];

	switch (option->type) {
	case OPTION_BOOL:
		text = *(const bool *)member ? "on" : "off";
		break;
	case OPTION_COUNT:
		/* Units are plurals that end in s. */
		snprintf(buffer, size, "%" PRIu32 " %.*s", *(const uint32_t *)member,
			 (int)strlen(option->unit) - (*(const uint32_t *)member == 1 && option->unit[0]), option->unit);
		return;
	case OPTION_SIZE:
		text = value_format_size(*(const uint64_t *)member, number);
		break;
	case OPTION_TIME:
		text = value_format_time(*(const uint64_t *)member, number);
		break;
	case OPTION_STRING:
		text = *(const char *const *)member;
		break;
	case OPTION_LIST:
		text = item < list->count ? list->items[item] : NULL;
		break;
	case OPTION_ENUM:
		text = value_format_enum(*(const int *)member, option->choices, number);
		break;
	case OPTION_MODE:
		if (*(const int *)member >= 0)
			text = (snprintf(number, sizeof(number), "%03o", (unsigned)*(const int *)member), number);
		break;
	}
	snprintf(buffer, size, "%s", text ? text : "(not given)");
}

void config_print(const struct config *config, FILE *out)
{
	char value[4096], origin[512];

	if (config->app)
		fprintf(out, "%-22s  %-24s  %s\n", "app", config->app,
			config_origin_text(config_origin_of_app(config), NULL, origin, sizeof(origin)));
	for (size_t i = 0; i < config_option_count; i++) {
		const struct option_info *option = &config_options[i];
		const struct config_list *list = (const void *)((const char *)config + option->offset);
		size_t items = option->type == OPTION_LIST && list->count ? list->count : 1;

		config_origin_text(config_origin_of(config, option), option, origin, sizeof(origin));
		for (size_t item = 0; item < items; item++) {
			print_value(config, option, item, value, sizeof(value));
			fprintf(out, "%-22s  %-24s  %s\n", option->name, value, origin);
		}
	}
}

/* Text in roff: '-' as a minus that can be copied, '\' and a leading control character made harmless. */
static void print_roff(FILE *out, const char *text)
{
	if (*text == '.' || *text == '\'')
		fputs("\\&", out);
	for (; *text; text++) {
		if (*text == '-')
			fputs("\\-", out);
		else if (*text == '\\')
			fputs("\\e", out);
		else
			fputc(*text, out);
	}
}

/* A sentence of the table as one of the manual's. */
static void print_sentence(FILE *out, const char *text)
{
	char first[2] = { (char)toupper((unsigned char)*text), 0 };

	print_roff(out, first);
	print_roff(out, text + 1);
	fputs(".\n", out);
}

static void print_man_option(FILE *out, const struct option_info *option)
{
	const char *alias = alias_of(option), *def = default_of(option);
	char operand[96], from[32], to[32], name[64];

	operand_of(option, operand, sizeof(operand));
	fputs(".TP\n", out);
	if (option->letter)
		fprintf(out, ".BR \\-%c \" \\fI%s\\fR, \" ", option->letter, operand);
	else
		fputs(".BR ", out);
	if (option->type == OPTION_BOOL) {
		fprintf(out, "\\-\\-");
		print_roff(out, option->name);
		fputs(" \", \" \\-\\-no\\-", out);
		print_roff(out, option->name);
	} else {
		fputs("\\-\\-", out);
		print_roff(out, option->name);
		fputs(" \" \\fI", out);
		print_roff(out, operand);
		fputs("\\fR\"", out);
	}
	fputc('\n', out);
	print_sentence(out, option->help);
	if (*option->more) {
		print_roff(out, option->more);
		fputc('\n', out);
	}
	if (option->type == OPTION_ENUM) {
		fputs("One of ", out);
		for (const char *p = option->choices; *p; p++) {
			if (*p == '|')
				fputs(", ", out);
			else if (*p == '-')
				fputs("\\-", out);
			else
				fputc(*p, out);
		}
		fputs(".\n", out);
	}
	if (def) {
		fputs("Default: ", out);
		print_roff(out, def);
		fputs(".\n", out);
	}
	if (option->type == OPTION_COUNT)
		fprintf(out, "Range: %" PRIu64 " to %" PRIu64 ".\n", option->low, option->high);
	else if (option->type == OPTION_SIZE)
		fprintf(out, "Range: %s to %s.\n", value_format_size(option->low, from), value_format_size(option->high, to));
	else if (option->type == OPTION_TIME)
		fprintf(out, "Range: %s to %s.\n", value_format_time(option->low, from), value_format_time(option->high, to));
	if (alias) {
		fputs("Also called \\-\\-", out);
		print_roff(out, alias);
		fputs(".\n", out);
	}
	fprintf(out, "Environment: %s.\n", config_env_name(option->name, name));
}

void config_print_man(FILE *out)
{
	fputs(".SS Commands and files\n", out);
	for (size_t i = 0; i < sizeof(command_flags) / sizeof(*command_flags); i++) {
		fputs(".TP\n.B ", out);
		print_roff(out, command_flags[i].flags);
		fputc('\n', out);
		print_sentence(out, command_flags[i].help);
		if (*command_flags[i].more) {
			print_roff(out, command_flags[i].more);
			fputc('\n', out);
		}
	}
	for (size_t i = 0; i < ROWS; i++) {
		if (rows[i].group)
			fprintf(out, ".SS %s\n", rows[i].group);
		else
			print_man_option(out, config_find_option(rows[i].option));
	}
}
