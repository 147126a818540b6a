/* SPDX-License-Identifier: Apache-2.0 */
/* config.c with its sources: which one wins, what is derived, and each message with its exit status. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/config_priv.h"
#include "daemon/foreign.h"
#include "daemon/log.h"
#include "tests/unit/capture.h"

static struct config config;
static struct capture said;

static char *given_argv[32];
static char folder[] = "/tmp/ringtail-test-config-XXXXXX";
static char file[64];

static void setup(void)
{
	clearenv();
	strcpy(folder, "/tmp/ringtail-test-config-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(file, sizeof(file), "%s/x.ini", folder);
}

static void teardown(void)
{
	config_done(&config);
	unlink(file);
	rmdir(folder);
}

static void write_file(const char *text)
{
	FILE *out = fopen(file, "w");

	ck_assert_ptr_nonnull(out);
	fputs(text, out);
	fclose(out);
}

/* The command line in words, FILE stands for the file. */
static int load(const char *words)
{
	static char line[1024];
	int argc = 0, status;
	char *rest = line;

	config_done(&config);
	snprintf(line, sizeof(line), "%s", words);
	given_argv[argc++] = (char *)"ringtail";
	for (char *word = strtok_r(line, " ", &rest); word && argc < 31; word = strtok_r(NULL, " ", &rest))
		given_argv[argc++] = strcmp(word, "FILE") == 0 ? file : word;
	given_argv[argc] = NULL;
	capture_start(&said);
	status = config_load(argc, given_argv, &config);
	capture_stop(&said);
	return status;
}

/* message: behind "ringtail: ", without the newline; FILE stands for the file's path. */
static void fails(const char *words, int status, const char *message)
{
	char expected[4096] = "ringtail: ";
	const char *place = strstr(message, "FILE:");

	ck_assert_msg(load(words) == status, "'%s' ended with another status, and said: %s", words, said.text);
	if (place)
		snprintf(expected, sizeof(expected), "ringtail: %.*s%s%s\n", (int)(place - message), message, file, place + 4);
	else
		snprintf(expected, sizeof(expected), "ringtail: %s\n", message);
	ck_assert_str_eq(said.text, expected);
}

static void loads(const char *words)
{
	ck_assert_msg(load(words) == 0, "'%s' said: %s", words, said.text);
	ck_assert_str_eq(said.text, "");
}

static const char *origin(const char *name)
{
	static char text[512];
	const struct option_info *option = config_find_option(name);

	return config_origin_text(config_origin_of(&config, option), option, text, sizeof(text));
}

START_TEST(test_defaults)
{
	loads("app");
	ck_assert_str_eq(config.app, "app");
	ck_assert_int_eq(config.command, COMMAND_SERVE);
	ck_assert_uint_eq(config.bind.count, 1);
	ck_assert_str_eq(config.bind.items[0], "127.0.0.1:8000");
	ck_assert(!config.is_bind_given);
	ck_assert_uint_eq(config.backlog, 2048);
	ck_assert_uint_eq(config.threads, config.allowed_cpus < 8 ? config.allowed_cpus : 8);
	ck_assert_uint_eq(config.threads_max, 64);
	ck_assert(!config.is_threads_given);
	ck_assert_uint_eq(config.thread_idle, 30000000000ull);
	ck_assert_int_eq(config.pool_elastic, POOL_ELASTIC_ON);
	ck_assert_int_eq(config.pool_wake, POOL_WAKE_AUTO);
	ck_assert_uint_eq(config.pool_wake_age, 200000);
	ck_assert_uint_eq(config.pool_spin, 10000);
	ck_assert_uint_eq(config.pool_wait_cap, 0);
	ck_assert_int_eq(config.pool_parallel, POOL_PARALLEL_AUTO);
	ck_assert(!config.pool_debug);
	ck_assert_uint_eq(config.queue_size, 1024);
	ck_assert_uint_eq(config.max_keepalive_requests, 1000);
	ck_assert_uint_eq(config.max_connections, 16384);
	ck_assert_uint_eq(config.max_body, 16 << 20);
	ck_assert_uint_eq(config.body_memory, 256 << 10);
	ck_assert_uint_eq(config.send_buffer, 1 << 20);
	ck_assert_uint_eq(config.max_header_bytes, 32 << 10);
	ck_assert_uint_eq(config.max_headers, 100);
	ck_assert_uint_eq(config.max_uri, 8 << 10);
	ck_assert_uint_eq(config.header_timeout, 10000000000ull);
	ck_assert_uint_eq(config.body_timeout, 30000000000ull);
	ck_assert_uint_eq(config.idle_timeout, 75000000000ull);
	ck_assert_uint_eq(config.write_timeout, 30000000000ull);
	ck_assert_uint_eq(config.graceful_timeout, 30000000000ull);
	ck_assert_ptr_null(config.script_name);
	ck_assert_str_eq(config.access_log, "off");
	ck_assert_str_eq(config.access_log_format, "combined");
	ck_assert_str_eq(config.error_log, "stderr");
	ck_assert_int_eq(config.log_level, LOG_INFO);
	ck_assert_int_eq(config.log_format, LOG_FORMAT_TEXT);
	ck_assert(config.server_header);
	ck_assert_uint_eq(config.trusted_proxies.count, 0);
	ck_assert_int_eq(config.forwarded_headers, FORWARDED_X);
	ck_assert_int_eq(config.umask, -1);
	ck_assert_ptr_null(config.venv);
	ck_assert_ptr_null(config.app_dir);
	ck_assert(config.gc_freeze);
	ck_assert(!config.debug);
}
END_TEST

START_TEST(test_every_default_is_within_its_own_range)
{
	ck_assert_int_eq(config_defaults(&config), 0);
}
END_TEST

START_TEST(test_every_row_can_be_found_by_name_and_is_named_once)
{
	for (size_t i = 0; i < config_option_count; i++) {
		ck_assert_ptr_eq(config_find_option(config_options[i].name), &config_options[i]);
		ck_assert_uint_gt(strlen(config_options[i].help), 0);
		ck_assert((config_options[i].metavar == NULL) == (config_options[i].type == OPTION_BOOL));
	}
}
END_TEST

START_TEST(test_forms_of_flags)
{
	loads("--threads 3 app --max-body=1m -b :80 -b:81 --no-server-header --pool-debug --gc-freeze=off -t4");
	ck_assert_str_eq(config.app, "app");
	ck_assert_uint_eq(config.threads, 4);
	ck_assert_uint_eq(config.max_body, 1 << 20);
	ck_assert_uint_eq(config.bind.count, 2);
	ck_assert_str_eq(config.bind.items[0], ":80");
	ck_assert_str_eq(config.bind.items[1], ":81");
	ck_assert(config.is_bind_given);
	ck_assert(!config.server_header);
	ck_assert(config.pool_debug);
	ck_assert(!config.gc_freeze);
}
END_TEST

START_TEST(test_two_dashes_end_the_flags)
{
	loads("--threads 2 -- --strange");
	ck_assert_str_eq(config.app, "--strange");
	fails("-- a --threads", 64, "unexpected argument '--threads': the application is 'a' already, and one daemon serves one");
}
END_TEST

START_TEST(test_commands)
{
	loads("--print-config");
	ck_assert_int_eq(config.command, COMMAND_PRINT_CONFIG);
	loads("--doctor");
	ck_assert_int_eq(config.command, COMMAND_DOCTOR);
	loads("--check app");
	ck_assert_int_eq(config.command, COMMAND_CHECK);
	loads("--check --print-config app");
	ck_assert(config.is_check && config.is_print_config);
	loads("--print-config --check app");
	ck_assert(config.is_check && config.is_print_config);
	ck_assert_int_eq(config.command, COMMAND_CHECK);
	fails("--check", 64, "no application given: name one, as in 'ringtail mysite.wsgi:application' or 'ringtail app.py' (see ringtail --help)");
	fails("--doctor --check a", 64, "--check: does not go together with --doctor: give one of them");
	fails("--check=1 a", 64, "--check: takes no value");
}
END_TEST

START_TEST(test_help_and_version_go_before_every_error)
{
	loads("--nonsense --help --threads x");
	ck_assert_int_eq(config.command, COMMAND_HELP);
	loads("-h");
	ck_assert_int_eq(config.command, COMMAND_HELP);
	loads("a b --version");
	ck_assert_int_eq(config.command, COMMAND_VERSION);
}
END_TEST

START_TEST(test_aliases)
{
	loads("app --blocking-threads 5 --root-path /blog");
	ck_assert_uint_eq(config.threads, 5);
	ck_assert_str_eq(config.script_name, "/blog");
	setenv("RINGTAIL_BLOCKING_THREADS", "6", 1);
	loads("app");
	ck_assert_uint_eq(config.threads, 6);
	unsetenv("RINGTAIL_BLOCKING_THREADS");
	write_file("[ringtail]\nroot-path=/x\n");
	loads("app --config FILE");
	ck_assert_str_eq(config.script_name, "/x");
}
END_TEST

START_TEST(test_flag_before_environment_before_file_before_default)
{
	char expected[256];

	write_file("[ringtail]\nbacklog = 1\nmax-headers = 1\nqueue-size = 1\n");
	setenv("RINGTAIL_BACKLOG", "2", 1);
	setenv("RINGTAIL_MAX_HEADERS", "2", 1);
	loads("app --config FILE --backlog 3");
	ck_assert_uint_eq(config.backlog, 3);
	ck_assert_uint_eq(config.max_headers, 2);
	ck_assert_uint_eq(config.queue_size, 1);
	ck_assert_str_eq(origin("backlog"), "--backlog");
	ck_assert_str_eq(origin("max-headers"), "environment variable RINGTAIL_MAX_HEADERS");
	snprintf(expected, sizeof(expected), "%s:4", file);
	ck_assert_str_eq(origin("queue-size"), expected);
	ck_assert_str_eq(origin("max-uri"), "default");
}
END_TEST

START_TEST(test_lists_append_within_a_source_and_replace_a_weaker_one)
{
	write_file("[ringtail]\nbind = :1\nbind = :2 :3\n");
	loads("app --config FILE");
	ck_assert_uint_eq(config.bind.count, 3);
	ck_assert_str_eq(config.bind.items[2], ":3");
	setenv("RINGTAIL_BIND", ":4 unix:/x,mode=0660", 1);
	loads("app --config FILE");
	ck_assert_uint_eq(config.bind.count, 2);
	ck_assert_str_eq(config.bind.items[1], "unix:/x,mode=0660");
	loads("app --config FILE --bind :5");
	ck_assert_uint_eq(config.bind.count, 1);
	ck_assert_str_eq(config.bind.items[0], ":5");
}
END_TEST

START_TEST(test_an_empty_list_takes_a_weaker_one_back)
{
	write_file("[ringtail]\ntrusted-proxies = 10.0.0.0/8,::1 unix\n");
	loads("app --config FILE");
	ck_assert_uint_eq(config.trusted_proxies.count, 3);
	loads("app --config FILE --trusted-proxies=");
	ck_assert_uint_eq(config.trusted_proxies.count, 0);
	fails("app --bind=", 64, "--bind: there is no address to listen on (127.0.0.1:8000 is the default)");
}
END_TEST

START_TEST(test_env_keeps_blanks_and_commas)
{
	loads("app --env A=1,2 --env B=x");
	ck_assert_uint_eq(config.env.count, 2);
	ck_assert_str_eq(config.env.items[0], "A=1,2");
	write_file("[ringtail]\nenv = A=one two\nenv=B=\n");
	loads("app --config FILE");
	ck_assert_uint_eq(config.env.count, 2);
	ck_assert_str_eq(config.env.items[0], "A=one two");
	ck_assert_str_eq(config.env.items[1], "B=");
	fails("app --env A", 64, "--env: 'A' is not of the form NAME=VALUE");
	fails("app --env =A", 64, "--env: '=A' is not of the form NAME=VALUE");
}
END_TEST

START_TEST(test_port)
{
	setenv("PORT", "5000", 1);
	loads("app");
	ck_assert_str_eq(config.bind.items[0], "0.0.0.0:5000");
	ck_assert_str_eq(origin("bind"), "environment variable PORT");
	ck_assert(!config.is_bind_given);
	loads("app -b :1");
	ck_assert_str_eq(config.bind.items[0], ":1");
	setenv("PORT", "", 1);
	loads("app");
	ck_assert_str_eq(config.bind.items[0], "127.0.0.1:8000");
	setenv("PORT", "http", 1);
	fails("app", 78, "environment variable PORT: 'http' is not a whole number (1 to 65535) (unset it, or give --bind)");
	loads("app -b :1");
}
END_TEST

START_TEST(test_application_from_each_source)
{
	write_file("[ringtail]\napp = file:app\n");
	loads("--config FILE");
	ck_assert_str_eq(config.app, "file:app");
	setenv("RINGTAIL_APP", "env:app", 1);
	loads("--config FILE");
	ck_assert_str_eq(config.app, "env:app");
	loads("--config FILE flag:app");
	ck_assert_str_eq(config.app, "flag:app");
	setenv("RINGTAIL_CONFIG", file, 1);
	unsetenv("RINGTAIL_APP");
	loads("");
	ck_assert_str_eq(config.app, "file:app");
	ck_assert_str_eq(config.config_file, file);
}
END_TEST

START_TEST(test_threads)
{
	loads("app --threads 3");
	ck_assert_uint_eq(config.threads_max, 3);
	ck_assert(config.is_threads_given);
	ck_assert_str_eq(origin("threads-max"), "from threads");
	loads("app --threads 3 --threads-max 7");
	ck_assert_uint_eq(config.threads_max, 7);
	loads("app --threads-max 1");
	ck_assert_uint_eq(config.threads, 1);
	loads("app --threads auto");
	ck_assert_uint_eq(config.threads, config.allowed_cpus < 8 ? config.allowed_cpus : 8);
	ck_assert_uint_eq(config.threads_max, 64);
	ck_assert(!config.is_threads_given);
	loads("app --threads 100");
	ck_assert_uint_eq(config.threads_max, 100);
	loads("app --threads 0");
	ck_assert_uint_eq(config.threads, 0);
	ck_assert_uint_eq(config.threads_max, 0);
}
END_TEST

START_TEST(test_threads_that_contradict_each_other)
{
	fails("app -t 4 --threads-max 2", 64, "--threads-max: threads-max 2 is less than threads (4, --threads)");
	write_file("[ringtail]\nthreads-max = 2\n");
	fails("app -t 4 --config FILE", 64, "--threads: threads 4 is more than threads-max (2, FILE:2)");
	setenv("RINGTAIL_THREADS", "4", 1);
	fails("app --config FILE", 78, "environment variable RINGTAIL_THREADS: threads 4 is more than threads-max (2, FILE:2)");
	unsetenv("RINGTAIL_THREADS");
	fails("app --threads-max 0 --threads 2", 64, "--threads-max: threads-max 0 is less than threads (2, --threads)");
	ck_assert_int_eq(load("app --threads-max 0"), 64);
	fails("app --threads 0 --threads-max 3", 64,
	      "--threads-max: threads-max 3 does not go together with views on the loop thread: threads (0, --threads)");
}
END_TEST

START_TEST(test_debug_is_one_thread_without_timeouts)
{
	write_file("[ringtail]\nthreads = 8\nthreads-max = 16\nidle-timeout = 5s\n");
	loads("app --debug --config FILE");
	ck_assert_uint_eq(config.threads, 1);
	ck_assert_uint_eq(config.threads_max, 1);
	ck_assert_uint_eq(config.header_timeout, 0);
	ck_assert_uint_eq(config.body_timeout, 0);
	ck_assert_uint_eq(config.idle_timeout, 0);
	ck_assert_uint_eq(config.write_timeout, 0);
	ck_assert_str_eq(origin("idle-timeout"), "from debug");
	loads("app --debug --idle-timeout 7s --threads 1");
	ck_assert_uint_eq(config.idle_timeout, 7000000000ull);
	fails("app --debug --threads 2", 64, "--threads: 2 does not go together with debug, which means one thread: leave one of them out");
	fails("app --debug --threads-max 2", 64, "--threads-max: 2 does not go together with debug, which means one thread: leave one of them out");
}
END_TEST

START_TEST(test_script_name)
{
	loads("app --script-name /a/b");
	ck_assert_str_eq(config.script_name, "/a/b");
	loads("app --script-name /");
	ck_assert_ptr_null(config.script_name);
	loads("app --script-name=");
	ck_assert_ptr_null(config.script_name);
	fails("app --script-name a", 64, "--script-name: 'a' does not begin with '/' (as in /blog)");
	fails("app --script-name /a/", 64, "--script-name: '/a/' ends with '/': write it without (as in /blog)");
	fails("app --script-name /a//b", 64,
	      "--script-name: '/a//b' is not a plain path: empty parts, '?', '#' and '%' cannot be in it");
	fails("app --script-name //", 64, "--script-name: '//' ends with '/': write it without (as in /blog)");
}
END_TEST

START_TEST(test_trusted_proxies)
{
	loads("app --trusted-proxies 10.0.0.0/8,unix --trusted-proxies fd00::/8");
	ck_assert_uint_eq(config.trusted_proxies.count, 3);
	fails("app --trusted-proxies 10.0.0.0/33", 64, "--trusted-proxies: '10.0.0.0/33' is no network (10.0.0.0/8, ::1) and not unix");
	fails("app --trusted-proxies *", 64,
	      "--trusted-proxies: '*' is no network: 0.0.0.0/0 and ::/0 are all addresses, which lets any client name its own");
}
END_TEST

START_TEST(test_wrong_flags)
{
	fails("", 64, "no application given: name one, as in 'ringtail mysite.wsgi:application' or 'ringtail app.py' (see ringtail --help)");
	fails("a b", 64, "unexpected argument 'b': the application is 'a' already, and one daemon serves one");
	fails("a --thread 2", 64, "--thread: unknown option (did you mean --threads?)");
	fails("a --max_body=1", 64, "--max_body: unknown option (did you mean --max-body?)");
	fails("a --chekc", 64, "--chekc: unknown option (did you mean --check?)");
	fails("a --qqqqqqqqq", 64, "--qqqqqqqqq: unknown option (ringtail --help lists them)");
	fails("a -q", 64, "-q: unknown option (ringtail --help lists them)");
	fails("a -bind :80", 64, "-bind: unknown option (did you mean --bind?)");
	fails("a -bin", 64, "-b: 'in' names no port (in:8000?)");
	fails("a --threads", 64, "--threads: a value is missing (--threads N)");
	fails("a --threads --debug", 64, "--threads: a value is missing (--threads N)");
	fails("a -t", 64, "-t: a value is missing (-t N)");
	fails("a --threads x", 64, "--threads: 'x' is not a whole number (0 to 1024)");
	fails("a -t 2000", 64, "-t: 2000 is out of range (0 to 1024)");
	fails("a --max-body 1x", 64, "--max-body: '1x': unknown unit 'x' (sizes take k, m, g)");
	fails("a --pool-wake-age 200", 64, "--pool-wake-age: 200s (without a unit: seconds) is out of range (1us to 1s)");
	fails("a --server-header off", 64, "--server-header: the value of a switch is joined to it: write --server-header=off");
	fails("a --no-server-header=1", 64, "--no-server-header: takes no value");
	fails("a --no-threads", 64, "--no-threads: unknown option (--threads is no switch: give it a value)");
	fails("a --umask 8", 64, "--umask: '8' is not an octal number (0 to 777)");
	fails("a --access-log=", 64, "--access-log: the value is empty (the default is off)");
	fails("a --config", 64, "--config: a value is missing (--config FILE)");
	fails("a --config FILE --config FILE", 64, "--config: given twice; one file is read");
	fails("-", 64, "'-': an application cannot be read from standard input; give a file");
	fails("a --bind 8000", 64, "--bind: '8000': write :8000 for all addresses, or 127.0.0.1:8000");
}
END_TEST

START_TEST(test_options_of_other_servers_name_the_remedy)
{
	fails("a --workers 4", 64,
	      "--workers: unknown option: one worker process with a growing number of threads serves (--threads, --threads-max); for more "
	      "processes start more instances");
	ck_assert_int_eq(load("a -w 4"), 64);
	ck_assert_ptr_nonnull(strstr(said.text, "-w: unknown option: one worker process"));
	ck_assert_int_eq(load("a --certfile=x"), 64);
	ck_assert_ptr_nonnull(strstr(said.text, "--certfile: unknown option: ringtail does not speak TLS: let nginx"));
	ck_assert_int_eq(load("a --worker-class gevent"), 64);
	ck_assert_ptr_nonnull(strstr(said.text, "gevent and eventlet are not served"));
	ck_assert_int_eq(load("a --asgi"), 64);
	ck_assert_ptr_nonnull(strstr(said.text, "ringtail serves WSGI"));
	write_file("[ringtail]\nkeyfile = x\n");
	ck_assert_int_eq(load("a --config FILE"), 78);
	ck_assert_ptr_nonnull(strstr(said.text, ":2: unknown option 'keyfile': ringtail does not speak TLS"));
	setenv("RINGTAIL_TIMEOUT", "30", 1);
	ck_assert_int_eq(load("a"), 78);
	ck_assert_ptr_nonnull(strstr(said.text, "environment variable RINGTAIL_TIMEOUT: unknown option: there is no limit on a view's time"));
}
END_TEST

START_TEST(test_no_own_option_is_taken_for_a_foreign_one)
{
	for (size_t i = 0; i < config_option_count; i++)
		ck_assert_ptr_null(foreign_remedy(config_options[i].name));
	for (size_t i = 0; i < config_alias_count; i++)
		ck_assert_ptr_null(foreign_remedy(config_aliases[i].alias));
}
END_TEST

START_TEST(test_wrong_environment)
{
	setenv("RINGTAIL_THREDS", "2", 1);
	fails("a", 78, "environment variable RINGTAIL_THREDS: unknown option (did you mean RINGTAIL_THREADS?)");
	unsetenv("RINGTAIL_THREDS");
	setenv("RINGTAIL_QQQQQQQ", "", 1);
	fails("a", 78, "environment variable RINGTAIL_QQQQQQQ: unknown option (variables that begin with RINGTAIL_ are ringtail's: rename or unset it)");
	unsetenv("RINGTAIL_QQQQQQQ");
	setenv("RINGTAIL_SERVER_HEADER", "maybe", 1);
	fails("a", 78, "environment variable RINGTAIL_SERVER_HEADER: 'maybe' is neither on nor off (also true, false, yes, no, 1, 0)");
	unsetenv("RINGTAIL_SERVER_HEADER");
	setenv("RINGTAIL_BIND", ":80 x", 1);
	fails("a", 78, "environment variable RINGTAIL_BIND: 'x' names no port (x:8000?)");
	/* What only begins alike is nobody's business. */
	unsetenv("RINGTAIL_BIND");
	setenv("RINGTAIL", "x", 1);
	setenv("RINGTAILX_Y", "x", 1);
	loads("a");
}
END_TEST

START_TEST(test_an_empty_variable_counts_as_not_set)
{
	setenv("RINGTAIL_THREADS", "", 1);
	setenv("RINGTAIL_APP", "", 1);
	setenv("RINGTAIL_CONFIG", "", 1);
	loads("a");
	ck_assert_str_eq(origin("threads"), "default");
}
END_TEST

START_TEST(test_wrong_file)
{
	char message[256];

	fails("a --config /nonexistent/x.ini", 78,
	      "cannot read the configuration /nonexistent/x.ini: there is no such file (--config and RINGTAIL_CONFIG name it)");
	snprintf(message, sizeof(message), "cannot read the configuration %s: Is a directory", folder);
	setenv("RINGTAIL_CONFIG", folder, 1);
	fails("a", 78, message);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("config");
	TCase *tcase = tcase_create("sources");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, test_defaults);
	tcase_add_test(tcase, test_every_default_is_within_its_own_range);
	tcase_add_test(tcase, test_every_row_can_be_found_by_name_and_is_named_once);
	tcase_add_test(tcase, test_forms_of_flags);
	tcase_add_test(tcase, test_two_dashes_end_the_flags);
	tcase_add_test(tcase, test_commands);
	tcase_add_test(tcase, test_help_and_version_go_before_every_error);
	tcase_add_test(tcase, test_aliases);
	tcase_add_test(tcase, test_flag_before_environment_before_file_before_default);
	tcase_add_test(tcase, test_lists_append_within_a_source_and_replace_a_weaker_one);
	tcase_add_test(tcase, test_an_empty_list_takes_a_weaker_one_back);
	tcase_add_test(tcase, test_env_keeps_blanks_and_commas);
	tcase_add_test(tcase, test_port);
	tcase_add_test(tcase, test_application_from_each_source);
	tcase_add_test(tcase, test_threads);
	tcase_add_test(tcase, test_threads_that_contradict_each_other);
	tcase_add_test(tcase, test_debug_is_one_thread_without_timeouts);
	tcase_add_test(tcase, test_script_name);
	tcase_add_test(tcase, test_trusted_proxies);
	tcase_add_test(tcase, test_wrong_flags);
	tcase_add_test(tcase, test_options_of_other_servers_name_the_remedy);
	tcase_add_test(tcase, test_no_own_option_is_taken_for_a_foreign_one);
	tcase_add_test(tcase, test_wrong_environment);
	tcase_add_test(tcase, test_an_empty_variable_counts_as_not_set);
	tcase_add_test(tcase, test_wrong_file);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
