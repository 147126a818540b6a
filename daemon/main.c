/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c: the order of start and end. The process's main thread is Python's
 * main thread; the loop and the handlers are the worker's threads.
 *
 * Start: configuration, environment and folder, logs, signals, listeners (so
 * that a port in use is told before a long import), application, worker, the
 * start-up line. End, when the worker has ended: application (atexit), logs,
 * _exit: an interpreter whose threads still run cannot be finalised.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/access_log.h"
#include "daemon/app.h"
#include "daemon/config.h"
#include "daemon/config_print.h"
#include "daemon/doctor.h"
#include "daemon/env_file.h"
#include "daemon/forwarded.h"
#include "daemon/listener.h"
#include "daemon/log.h"
#include "daemon/signals.h"
#include "daemon/start_error.h"
#include "daemon/worker.h"

/* LeakSanitizer does not run where _exit ends the process: it is called. */
#if defined(__SANITIZE_ADDRESS__)
#define HAS_LEAK_CHECK 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_LEAK_CHECK 1
#endif
#endif
#ifdef HAS_LEAK_CHECK
#include <sanitizer/lsan_interface.h>

/* An interpreter that is not finalised keeps what it and its extension modules have allocated. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libpython\nleak:lib-dynload\nleak:-packages/\nleak:.cpython-\n";
}

const char *__lsan_default_options(void);
const char *__lsan_default_options(void)
{
	return "print_suppressions=0";
}
#endif

#define STATUS_FAILED 1
#define STATUS_CONFIG 78

/* Descriptors that are no connections: the ring, logs, eventfds, and what the application opens. */
#define SPARE_FILES 128

/* A descriptor below 3 that is closed would be given to a socket, and then be written to as standard error. */
static void fill_standard_files(void)
{
	for (int fd = 0; fd <= 2; fd++) {
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == 0 ? O_RDONLY : O_WRONLY) < 0)
			return;
	}
}

/* The application must not read from the terminal of whoever started the daemon; a socket is left for bind fd:0. */
static void drop_input(void)
{
	struct stat info;
	int fd;

	if (fstat(STDIN_FILENO, &info) == 0 && S_ISSOCK(info.st_mode))
		return;
	fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	dup2(fd, STDIN_FILENO);
	close(fd);
}

/* The limit of open files goes up to what is allowed; max-connections goes down to what that carries. */
static void fit_connections(struct config *config)
{
	struct rlimit limit;
	uint64_t spare = SPARE_FILES + config->threads_max, room;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	if (limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
			getrlimit(RLIMIT_NOFILE, &limit);
	}
	if (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= spare + config->max_connections)
		return;
	room = limit.rlim_cur > 2 * spare ? limit.rlim_cur - spare : limit.rlim_cur / 2;
	config->max_connections = room < config->max_connections ? (uint32_t)(room ? room : 1) : config->max_connections;
	log_warning("max-connections is %u: the limit of open files is %llu (ulimit -Hn; in a systemd unit: LimitNOFILE=)", config->max_connections,
		    (unsigned long long)limit.rlim_cur);
}

static int set_surroundings(const struct config *config)
{
	int status = config->env_file ? env_file_apply(config->env_file) : 0;

	if (status < 0)
		return config_refuse(config, "env-file", "cannot read %s: %s", config->env_file, strerror(-status));
	if (status == 0)
		status = env_list_apply(&config->env);
	if (status)
		return status;
	if (config->chdir && chdir(config->chdir) < 0)
		return config_refuse(config, "chdir", "cannot change to the folder %s: %s", config->chdir, strerror(errno));
	if (config->umask >= 0)
		umask((mode_t)config->umask);
	return 0;
}

/* What is made from texts of the configuration. */
static int compile(const struct config *config)
{
	const char *bad = NULL;
	int ret = forwarded_start(config, &bad);

	if (ret < 0)
		return config_refuse(config, "trusted-proxies", "'%s': %s", bad ? bad : "",
				     ret == -EINVAL ? "is no network (10.0.0.0/8, ::1) and not unix" : strerror(-ret));
	ret = access_log_start(config, &bad);
	return ret < 0 ? config_refuse(config, "access-log-format", "%s", ret == -EINVAL && bad ? bad : strerror(-ret)) : 0;
}

static const struct app *choose_app(const struct config *config)
{
	return strcmp(config->app, "null:") == 0 ? &app_null : &app_python;
}

static void say_serving(const struct config *config, const struct app_info *info, const struct listener *listeners, size_t count)
{
	char *text = NULL;
	size_t size = 0;
	FILE *line = open_memstream(&text, &size);

	if (!line)
		return;
	fprintf(line, "ringtail %s: serving %s on ", PACKAGE_VERSION, info->name);
	for (size_t i = 0; i < count; i++)
		fprintf(line, "%s%s", i ? ", " : "", listeners[i].text);
	fprintf(line, " (%s%s", info->runtime, info->runtime[0] ? ", " : "");
	if (info->venv[0])
		fprintf(line, "venv %s, ", info->venv);
	fprintf(line, "1 worker, ");
	if (config->threads == 0)
		fprintf(line, "no threads: views run on the loop thread");
	else if (config->threads == config->threads_max)
		fprintf(line, "threads %u", config->threads);
	else
		fprintf(line, "threads %u..%u", config->threads, config->threads_max);
	if (config->threads > 0 && worker_is_parallel(config, info))
		fprintf(line, ", pool-parallel");
	fprintf(line, ")\n");
	if (fclose(line) == 0 && write(STDERR_FILENO, text, size) < 0)
		errno = 0; /* nobody reads standard error: no reason not to serve */
	free(text);
}

/* From here on the application is there. */
static int serve_app(const struct config *config, const struct app *app, const struct app_info *info, struct listener *listeners, size_t count)
{
	uint64_t deadline_ns = 0;
	struct worker *worker;

	if (worker_start(config, app, info, listeners, count, &worker) < 0) {
		app->stop(0);
		return STATUS_FAILED;
	}
	signals_set_worker(worker);
	say_serving(config, info, listeners, count);
	app->main_wait(worker_stop_fd(worker));
	worker_wait(worker);
	signals_set_worker(NULL);
	/* Views that did not end in time may still use what the worker and the listeners are made of: it stays until _exit. */
	worker_join(worker, &deadline_ns);
	listeners_shut(listeners, count);
	app->stop(deadline_ns);
	return 0;
}

static int log_status(int error)
{
	return error == -EINVAL ? STATUS_CONFIG : STATUS_FAILED;
}

static int serve(struct config *config)
{
	static struct listener *listeners;
	static struct app_info info;
	const struct app *app = choose_app(config);
	size_t count = 0;
	int ret, status;

	ret = log_start(config);
	if (ret < 0)
		return log_status(ret);
	fit_connections(config);
	ret = signals_install();
	if (ret < 0) {
		start_error("cannot install signal handlers: %s", strerror(-ret));
		return STATUS_FAILED;
	}
	status = listeners_open(config, &listeners, &count);
	if (status)
		return status;
	signals_set_listeners(listeners, count);
	status = app->start(config, &info);
	signals_check_taken();
	if (status == 0)
		status = serve_app(config, app, &info, listeners, count);
	listeners_shut(listeners, count);
	return status;
}

static int check(const struct config *config)
{
	const struct app *app = choose_app(config);
	static struct app_info info;
	int ret = log_check(config), status;

	if (ret < 0)
		return log_status(ret);
	status = app->start(config, &info);
	if (status)
		return status;
	app->stop(0);
	printf("ringtail: the configuration is good, and %s can be served%s%s%s%s\n", info.name, info.runtime[0] ? " by " : "", info.runtime,
	       info.venv[0] ? ", venv " : "", info.venv);
	return 0;
}

static int run(struct config *config)
{
	int status;

	switch (config->command) {
	case COMMAND_HELP:
		config_print_help(stdout);
		return 0;
	case COMMAND_VERSION:
		printf("ringtail %s (Python %s)\n", PACKAGE_VERSION, RINGTAIL_PYTHON_VERSION);
		return 0;
	case COMMAND_DOCTOR:
		return doctor_run(config, stdout);
	default:
		break;
	}
	if (config->is_print_config) {
		config_print(config, stdout);
		if (!config->is_check)
			return 0;
	}
	if (!config->debug)
		drop_input();
	signal(SIGPIPE, SIG_IGN);
	status = set_surroundings(config);
	if (status == 0)
		status = compile(config);
	if (status)
		return status;
	return config->is_check ? check(config) : serve(config);
}

/* Not exit(): threads of the application may still run, and would meet what its handlers take apart. */
static void leave(int status) __attribute__((noreturn));
static void leave(int status)
{
	log_stop();
	if (fflush(stdout) == EOF && status == 0)
		status = STATUS_FAILED;
#ifdef HAS_LEAK_CHECK
	__lsan_do_leak_check();
#endif
	_exit(status);
}

int main(int argc, char **argv)
{
	static struct config config;
	int status;

	fill_standard_files();
	status = config_load(argc, argv, &config);
	if (status == 0)
		status = run(&config);
	leave(status);
}
