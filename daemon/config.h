/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config.h: every option's value after flag, environment, file and default.
 *
 * The members are made from options.def: one a row, named as the option with
 * '-' turned to '_'. Types: bool; uint32_t for counts; uint64_t bytes for
 * sizes; uint64_t nanoseconds for times; const char * (NULL = not given);
 * struct config_list; int for enumerations (constants below). Filled once by
 * config_load on the main thread, read-only afterwards, any thread.
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

#define CONFIG_BOOL(member) bool member;
#define CONFIG_COUNT(member) uint32_t member;
#define CONFIG_SIZE(member) uint64_t member;
#define CONFIG_TIME(member) uint64_t member;
#define CONFIG_STRING(member) const char *member;
#define CONFIG_LIST(member) struct config_list member;
#define CONFIG_ENUM(member) int member;

struct config {
#define OPTION(name, member, letter, type, def, low, high, choices, unit, metavar, help) CONFIG_##type(member)
#include "options.def"
#undef OPTION
	const char *app;      /* the positional argument: module[:attribute], file, factory, "null:" */
	const char *config_file;
	bool is_check;        /* --check */
	bool is_print_config; /* --print-config */
	bool is_threads_given;
	uint32_t allowed_cpus; /* by affinity and by the cgroup's cpu.max, >= 1 */
};

#endif
