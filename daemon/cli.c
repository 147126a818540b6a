/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli.c: the command line. --flag VALUE, --flag=VALUE, -f VALUE, -fVALUE;
 * --switch, --switch=off, --no-switch; "--" ends the flags; flags may stand
 * behind the application. Names are never completed: what an abbreviation means
 * would change with the next option.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "daemon/cli.h"
#include "daemon/config_priv.h"
#include "daemon/foreign.h"
#include "daemon/suggest.h"

static const struct {
	const char *name;
	enum config_command command;
} commands[] = {
	{ "check", COMMAND_CHECK },     { "print-config", COMMAND_PRINT_CONFIG }, { "doctor", COMMAND_DOCTOR },
	{ "version", COMMAND_VERSION }, { "help", COMMAND_HELP },
};
#define COMMANDS (sizeof(commands) / sizeof(*commands))

static const char *nearest_flag(const char *wrong)
{
	const char *option = config_nearest_option(wrong);
	struct suggest suggest;

	suggest_init(&suggest, wrong);
	if (option)
		suggest_offer(&suggest, option);
	for (size_t i = 0; i < COMMANDS; i++)
		suggest_offer(&suggest, commands[i].name);
	suggest_offer(&suggest, "config");
	return suggest.nearest;
}

/* arg: "--name" or "--name=value" as typed; name: the part without dashes and value. */
static int fail_unknown(const char *arg, const char *name)
{
	int len = (int)strcspn(arg, "=");
	const char *remedy = foreign_remedy(name);
	const char *nearest;

	if (remedy)
		return config_fail(EXIT_USAGE, NULL, "%.*s: unknown option: %s", len, arg, remedy);
	nearest = nearest_flag(name);
	if (nearest)
		return config_fail(EXIT_USAGE, NULL, "%.*s: unknown option (did you mean --%s?)", len, arg, nearest);
	return config_fail(EXIT_USAGE, NULL, "%.*s: unknown option (ringtail --help lists them)", len, arg);
}

static int add(struct cli *cli, const struct option_info *option, const char *flag, size_t flag_len, const char *value)
{
	struct cli_setting *settings = reallocarray(cli->settings, cli->setting_count + 1, sizeof(*settings));
	struct cli_setting *setting;

	if (!settings)
		return config_fail(EXIT_FAULT, NULL, "cannot read the command line: out of memory");
	cli->settings = settings;
	setting = &settings[cli->setting_count++];
	setting->option = option;
	setting->value = value;
	snprintf(setting->flag, sizeof(setting->flag), "%.*s", (int)flag_len, flag);
	return 0;
}

static bool is_truth(const char *text)
{
	struct value_error unused;
	bool truth;

	return text && value_parse_bool(text, &truth, &unused) == 0;
}

/* The value of the flag argv[*i] when it is not joined to it: the next argument. NULL after the message. */
static const char *next_value(int argc, char **argv, int *i, const char *metavar)
{
	const char *flag = argv[*i];
	const char *value = *i + 1 < argc ? argv[*i + 1] : NULL;

	if (!value || strncmp(value, "--", 2) == 0) {
		config_fail(EXIT_USAGE, flag, "a value is missing (%s %s)", flag, metavar);
		return NULL;
	}
	++*i;
	return value;
}

static int take_command(struct cli *cli, enum config_command command, const char *flag)
{
	bool is_pair = (cli->is_check || cli->is_print_config) && (command == COMMAND_CHECK || command == COMMAND_PRINT_CONFIG);

	if (cli->command != COMMAND_SERVE && cli->command != command && !is_pair)
		return config_fail(EXIT_USAGE, flag, "does not go together with --%s: give one of them", commands[cli->command - 1].name);
	cli->is_check |= command == COMMAND_CHECK;
	cli->is_print_config |= command == COMMAND_PRINT_CONFIG;
	cli->command = cli->is_check ? COMMAND_CHECK : command;
	return 0;
}

static int take_switch(struct cli *cli, const struct option_info *option, const char *arg, size_t name_len, const char *value, const char *next)
{
	if (!value && is_truth(next))
		return config_fail(EXIT_USAGE, arg, "the value of a switch is joined to it: write %s=%s", arg, next);
	return add(cli, option, arg, name_len, value ? value : "on");
}

static int take_long(struct cli *cli, int argc, char **argv, int *i)
{
	const char *arg = argv[*i];
	size_t len = strcspn(arg, "=");
	const char *value = arg[len] ? arg + len + 1 : NULL;
	const struct option_info *option;
	char name[64];

	snprintf(name, sizeof(name), "%.*s", (int)len - 2, arg + 2);
	for (size_t c = 0; c < COMMANDS; c++) {
		if (strcmp(commands[c].name, name) == 0)
			return value ? config_fail(EXIT_USAGE, NULL, "--%s: takes no value", name) : take_command(cli, commands[c].command, arg);
	}
	if (strcmp(name, "config") == 0) {
		if (cli->config_file)
			return config_fail(EXIT_USAGE, NULL, "--config: given twice; one file is read");
		cli->config_file = value ? value : next_value(argc, argv, i, "FILE");
		if (cli->config_file && !*cli->config_file)
			return config_fail(EXIT_USAGE, NULL, "--config: the name of the file is empty");
		return cli->config_file ? 0 : EXIT_USAGE;
	}
	option = config_find_option(name);
	if (!option && strncmp(name, "no-", 3) == 0) {
		option = config_find_option(name + 3);
		if (option && option->type != OPTION_BOOL)
			return config_fail(EXIT_USAGE, NULL, "--%s: unknown option (--%s is no switch: give it a value)", name, name + 3);
		if (option && value)
			return config_fail(EXIT_USAGE, NULL, "--%s: takes no value", name);
		if (option)
			return add(cli, option, arg, len, "off");
	}
	if (!option)
		return fail_unknown(arg, name);
	if (option->type == OPTION_BOOL)
		return take_switch(cli, option, arg, len, value, *i + 1 < argc ? argv[*i + 1] : NULL);
	if (!value)
		value = next_value(argc, argv, i, option->metavar);
	return value ? add(cli, option, arg, len, value) : EXIT_USAGE;
}

static int take_short(struct cli *cli, int argc, char **argv, int *i)
{
	const char *arg = argv[*i];
	const struct option_info *option = config_find_letter(arg[1]);
	const char *value;

	if (strcmp(arg, "-h") == 0)
		return take_command(cli, COMMAND_HELP, arg);
	if (arg[2] && config_find_option(arg + 1))
		return config_fail(EXIT_USAGE, NULL, "%s: unknown option (did you mean -%s?)", arg, arg);
	if (!option) {
		char name[2] = { arg[1], 0 };
		const char *remedy = foreign_remedy(name);

		return remedy ? config_fail(EXIT_USAGE, NULL, "-%s: unknown option: %s", name, remedy) :
				config_fail(EXIT_USAGE, NULL, "-%s: unknown option (ringtail --help lists them)", name);
	}
	value = arg[2] ? arg + 2 : next_value(argc, argv, i, option->metavar);
	return value ? add(cli, option, arg, 2, value) : EXIT_USAGE;
}

static int take_app(struct cli *cli, const char *arg)
{
	if (cli->app)
		return config_fail(EXIT_USAGE, NULL, "unexpected argument '%s': the application is '%s' already, and one daemon serves one", arg, cli->app);
	cli->app = arg;
	return 0;
}

int cli_parse(int argc, char **argv, struct cli *ret_cli)
{
	bool is_flags_over = false;
	int status = 0;

	*ret_cli = (struct cli){ .command = COMMAND_SERVE };
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		bool is_help = strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0;

		if (is_help || strcmp(argv[i], "--version") == 0) {
			ret_cli->command = is_help ? COMMAND_HELP : COMMAND_VERSION;
			return 0;
		}
	}
	for (int i = 1; i < argc && status == 0; i++) {
		if (is_flags_over || argv[i][0] != '-')
			status = take_app(ret_cli, argv[i]);
		else if (strcmp(argv[i], "--") == 0)
			is_flags_over = true;
		else if (argv[i][1] == '-')
			status = take_long(ret_cli, argc, argv, &i);
		else if (argv[i][1])
			status = take_short(ret_cli, argc, argv, &i);
		else
			status = config_fail(EXIT_USAGE, NULL, "'-': an application cannot be read from standard input; give a file");
	}
	return status;
}

void cli_done(struct cli *cli)
{
	free(cli->settings);
	cli->settings = NULL;
	cli->setting_count = 0;
}
