/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config.h: every option's value after flag, environment, file and default.
 *
 * The members are made from options.def: one a row, named as the option with
 * '-' turned to '_'. Types: bool; uint32_t for counts; uint64_t bytes for
 * sizes; uint64_t nanoseconds for times; const char * (NULL = not given);
 * struct config_list; int for enumerations (constants below) and for modes
 * (-1 = not given). Filled once by config_load on the main thread, read-only
 * afterwards, any thread.
 */
#ifndef RINGTAIL_CONFIG_H
#define RINGTAIL_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct config_list {
	const char **items;
	size_t count;
};

enum { POOL_ELASTIC_ON, POOL_ELASTIC_OFF, POOL_ELASTIC_SHARED };
enum { POOL_WAKE_AUTO, POOL_WAKE_RING, POOL_WAKE_FUTEX };
enum { POOL_PARALLEL_AUTO, POOL_PARALLEL_ON, POOL_PARALLEL_OFF };
enum { FORWARDED_X, FORWARDED_RFC7239 };
enum { LOG_FORMAT_TEXT, LOG_FORMAT_JSON };
/* log_level: the constants of enum log_level (log.h). */

/* What the command line asks for. */
enum config_command {
	COMMAND_SERVE,
	COMMAND_CHECK,
	COMMAND_PRINT_CONFIG,
	COMMAND_DOCTOR,
	COMMAND_VERSION,
	COMMAND_HELP,
};

#define CONFIG_BOOL(member) bool member;
#define CONFIG_COUNT(member) uint32_t member;
#define CONFIG_SIZE(member) uint64_t member;
#define CONFIG_TIME(member) uint64_t member;
#define CONFIG_STRING(member) const char *member;
#define CONFIG_LIST(member) struct config_list member;
#define CONFIG_ENUM(member) int member;
#define CONFIG_MODE(member) int member;

struct config_origin;

struct config {
#define OPTION(name, member, letter, type, ...) CONFIG_##type(member)
#include "options.def"
	const char *app;      /* the positional argument: module[:attribute], file, factory, "null:"; NULL for commands without one */
	const char *config_file;
	enum config_command command;
	bool is_check;        /* --check */
	bool is_print_config; /* --print-config */
	bool is_threads_given;
	bool is_bind_given;    /* false: bind is the default */
	uint32_t allowed_cpus; /* by affinity and by the cgroup's cpu.max, >= 1 */
	struct config_origin *origins; /* one an option, then the application's: config_print.c */
};

/*
 * Reads command line, environment ($PORT and RINGTAIL_*) and file. 0, or an exit status of SPEC 1 after one message on standard
 * error: 64 wrong usage, 78 wrong configuration, 70 out of memory. With COMMAND_HELP and COMMAND_VERSION nothing but the command
 * is filled in. What was filled in is freed by config_done, also after a failure.
 */
int config_load(int argc, char **argv, struct config *ret_config);

/* Sets all members to the defaults, as for a daemon started without any option (for tests). 0 or 70. */
int config_defaults(struct config *ret_config);

/*
 * Main thread, at start: says on standard error what is wrong with the value of the option, behind the place where it was given.
 * Returns the exit status: 64 for a flag, 78 for the rest.
 */
int config_refuse(const struct config *config, const char *option, const char *format, ...) __attribute__((format(printf, 3, 4)));

void config_done(struct config *config);

#endif
