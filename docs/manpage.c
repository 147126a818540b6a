/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manpage.c: build tool: ringtail.1.in with the options of daemon/options.def
 * in place of the line @OPTIONS@, the access log's variables, stages and formats
 * in place of @VARIABLES@, @STAGES@ and @FORMATS@, and the version for
 * @VERSION@. From standard input to standard output.
 */
#include <stdio.h>
#include <string.h>

#include "daemon/access_log_format.h"
#include "daemon/config_print.h"

static const struct {
	const char *name, *help;
} variables[] = {
#define VARIABLE(name, is_number, help) { #name, help },
#define STAGE(name, help)
#include "daemon/access_variables.def"
}, stages[] = {
#define VARIABLE(...)
#define STAGE(name, help) { #name, help },
#include "daemon/access_variables.def"
};

/* Within a line: '-' as a minus that can be copied, '\\' harmless. */
static void print_text(const char *text)
{
	for (; *text; text++) {
		if (*text == '-' || *text == '\\')
			fputs(*text == '-' ? "\\-" : "\\e", stdout);
		else
			putchar(*text);
	}
}

static void print_variable(const char *name, const char *help)
{
	printf(".TP\n.B $%s\n\\&", name);
	print_text(help);
	fputs(".\n", stdout);
}

/* A format may be broken behind a comma or before a $: it is shown over several lines. */
static void print_format(const char *name)
{
	const char *text = access_format_source(name);
	size_t column = 0;

	printf(".TP\n.B %s\n.RS\n.PP\n.EX\n\\&", name);
	for (; *text; text++) {
		char piece[2] = { *text, 0 };

		print_text(piece);
		column++;
		if (column > 45 && (*text == ',' || *text == ' ')) {
			fputs("\n\\&", stdout);
			column = 0;
		}
	}
	fputs("\n.EE\n.RE\n", stdout);
}

int main(void)
{
	char line[1024];

	while (fgets(line, sizeof(line), stdin)) {
		char *version = strstr(line, "@VERSION@");

		if (strcmp(line, "@OPTIONS@\n") == 0) {
			config_print_man(stdout);
		} else if (strcmp(line, "@VARIABLES@\n") == 0) {
			for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++)
				print_variable(variables[i].name, variables[i].help);
		} else if (strcmp(line, "@STAGES@\n") == 0) {
			for (size_t i = 0; i < sizeof(stages) / sizeof(*stages); i++)
				print_variable(stages[i].name, stages[i].help);
		} else if (strcmp(line, "@FORMATS@\n") == 0) {
			print_format("common");
			print_format("combined");
			print_format("json");
		} else if (version) {
			printf("%.*s%s%s", (int)(version - line), line, PACKAGE_VERSION, version + strlen("@VERSION@"));
		} else {
			fputs(line, stdout);
		}
	}
	return ferror(stdin) || fflush(stdout) == EOF;
}
