/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manpage.c: build tool: ringtail.1.in with the options of daemon/options.def
 * in place of the line @OPTIONS@ and the version for @VERSION@. From standard
 * input to standard output.
 */
#include <stdio.h>
#include <string.h>

#include "daemon/config_print.h"

int main(void)
{
	char line[1024];

	while (fgets(line, sizeof(line), stdin)) {
		char *version = strstr(line, "@VERSION@");

		if (strcmp(line, "@OPTIONS@\n") == 0)
			config_print_man(stdout);
		else if (version)
			printf("%.*s%s%s", (int)(version - line), line, PACKAGE_VERSION, version + strlen("@VERSION@"));
		else
			fputs(line, stdout);
	}
	return ferror(stdin) || fflush(stdout) == EOF;
}
