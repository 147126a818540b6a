/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli.h: the outcome of the command line: a command, at most one application,
 * and settings that are named but not yet looked at. Main thread, at start; the
 * strings are argv's.
 */
#ifndef RINGTAIL_CLI_H
#define RINGTAIL_CLI_H

#include <stdbool.h>
#include <stddef.h>

#include "daemon/config.h"

struct option_info;

struct cli_setting {
	const struct option_info *option;
	const char *value;
	char flag[64]; /* as it was written, "--threads", "-t", for messages */
};

struct cli {
	enum config_command command;
	bool is_check;
	bool is_print_config;
	const char *app;
	const char *config_file;
	struct cli_setting *settings;
	size_t setting_count;
};

/*
 * 0, or an exit status after one message on standard error. --help and --version end the reading: what stands behind them is not
 * judged. cli_done is to be called in both cases.
 */
int cli_parse(int argc, char **argv, struct cli *ret_cli);

void cli_done(struct cli *cli);

#endif
