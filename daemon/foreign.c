/* SPDX-License-Identifier: Apache-2.0 */
/*
 * foreign.c: options that people bring along from gunicorn, uvicorn, uWSGI,
 * waitress and granian, and what to do here instead. None is an option here.
 */
#include <stdbool.h>
#include <stddef.h>

#include "daemon/foreign.h"

#define TLS "ringtail does not speak TLS: let nginx, HAProxy or Caddy do it in front, and name it in --trusted-proxies"
#define ASGI "ringtail serves WSGI: for an ASGI application use uvicorn or granian, or wrap it (a2wsgi.ASGIMiddleware)"
#define GREEN "ringtail runs views on real threads that grow in number (--threads, --threads-max), without gevent or eventlet"
#define PROCESSES "one worker process with a growing number of threads serves (--threads, --threads-max); for more processes start more instances"
#define TIMEOUT "there is no limit on a view's time; connections have --header-timeout, --body-timeout, --idle-timeout and --write-timeout"
#define RESTART "workers are not recycled; restart the service"
#define DEVELOP "the application is not watched: restart ringtail after a change (--debug for a debugger)"
#define USER "ringtail does not change its user: start it as that user (systemd: User=, Group=; ports below 1024: AmbientCapabilities=CAP_NET_BIND_SERVICE)"
#define FOREGROUND "ringtail stays in the foreground: let systemd or another supervisor run it"

static const struct {
	const char *name;
	const char *remedy;
} foreign[] = {
	{ "certfile", TLS },
	{ "keyfile", TLS },
	{ "ca-certs", TLS },
	{ "ciphers", TLS },
	{ "ssl", TLS },
	{ "ssl-version", TLS },
	{ "ssl-certfile", TLS },
	{ "ssl-keyfile", TLS },
	{ "ssl-certificate", TLS },
	{ "ssl-keyfile-password", TLS },
	{ "ssl-ca-certs", TLS },
	{ "ssl-cert-reqs", TLS },
	{ "ssl-ciphers", TLS },
	{ "https", TLS },
	{ "https-socket", TLS },
	{ "http2", "ringtail speaks HTTP/1.1: let the proxy in front speak HTTP/2" },
	{ "asgi", ASGI },
	{ "interface", ASGI },
	{ "lifespan", ASGI },
	{ "loop", ASGI },
	{ "worker-class", "there is one kind of worker: threads that grow in number (--threads, --threads-max); ASGI, gevent and eventlet are not served" },
	{ "k", "there is one kind of worker: threads that grow in number (--threads, --threads-max); ASGI, gevent and eventlet are not served" },
	{ "gevent", GREEN },
	{ "eventlet", GREEN },
	{ "monkey-patch", GREEN },
	{ "worker-connections", "the number of connections is --max-connections" },
	{ "workers", PROCESSES },
	{ "w", PROCESSES },
	{ "processes", PROCESSES },
	{ "p", PROCESSES },
	{ "timeout", TIMEOUT },
	{ "harakiri", TIMEOUT },
	{ "keep-alive", "the time of a connection without a request is --idle-timeout" },
	{ "keepalive", "the time of a connection without a request is --idle-timeout" },
	{ "timeout-keep-alive", "the time of a connection without a request is --idle-timeout" },
	{ "max-requests", RESTART },
	{ "max-requests-jitter", RESTART },
	{ "limit-max-requests", RESTART },
	{ "limit-request-line", "the longest request target is --max-uri" },
	{ "limit-request-fields", "the number of headers is limited by --max-headers" },
	{ "limit-request-field-size", "the size of all headers together is limited by --max-header-bytes" },
	{ "limit-concurrency", "what waits is limited by --queue-size, what runs by --threads-max" },
	{ "reload", DEVELOP },
	{ "preload", "there is one process: the application is always imported once" },
	{ "preload-app", "there is one process: the application is always imported once" },
	{ "listen", "addresses are given by --bind" },
	{ "host", "addresses are given by --bind HOST:PORT" },
	{ "port", "addresses are given by --bind HOST:PORT" },
	{ "uds", "a unix socket is given by --bind unix:/PATH" },
	{ "unix-socket", "a unix socket is given by --bind unix:/PATH" },
	{ "http", "addresses are given by --bind" },
	{ "http-socket", "addresses are given by --bind" },
	{ "socket", "addresses are given by --bind; ringtail speaks HTTP, not the uwsgi protocol" },
	{ "proxy-headers", "proxies that may set the client's address are named by --trusted-proxies" },
	{ "forwarded-allow-ips", "proxies that may set the client's address are named by --trusted-proxies" },
	{ "trusted-proxy", "proxies that may set the client's address are named by --trusted-proxies" },
	{ "proxy-protocol", "the PROXY protocol is not spoken: let the proxy send X-Forwarded-For, and name it in --trusted-proxies" },
	{ "pythonpath", "a folder to import from is given by --app-dir" },
	{ "python-path", "a folder to import from is given by --app-dir" },
	{ "virtualenv", "a virtual environment is given by --venv" },
	{ "home", "a virtual environment is given by --venv" },
	{ "url-prefix", "the application's mount point is given by --script-name" },
	{ "access-logfile", "the access log is --access-log" },
	{ "access-logformat", "the form of the access log is --access-log-format" },
	{ "error-logfile", "the error log is --error-log" },
	{ "logger-class", "the logs are --access-log and --error-log; the application's own logging is its own" },
	{ "log-config", "the logs are --access-log and --error-log; the application's own logging is its own" },
	{ "capture-output", "what the application prints goes where standard output and standard error go" },
	{ "user", USER },
	{ "u", USER },
	{ "uid", USER },
	{ "group", USER },
	{ "g", USER },
	{ "gid", USER },
	{ "daemon", FOREGROUND },
	{ "D", FOREGROUND },
	{ "daemonize", FOREGROUND },
	{ "pid", FOREGROUND },
	{ "pidfile", FOREGROUND },
	{ "c", "a configuration file is given by --config (an ini file, not Python)" },
	{ "e", "a variable for the application is set by --env NAME=VALUE" },
	{ "raw-env", "a variable for the application is set by --env NAME=VALUE" },
	{ "factory", "a factory is named with parentheses: 'ringtail mysite:create_app()'" },
	{ "check-config", "the configuration is checked by --check" },
	{ "print-options", "the options' values are printed by --print-config" },
	{ "V", "the version is told by --version" },
	{ "v", "the version is told by --version; the log's level is --log-level" },
};

static bool is_same(const char *a, const char *b)
{
	for (; *a && *b; a++, b++) {
		if (*a != *b && !(*a == '-' && *b == '_'))
			return false;
	}
	return *a == *b;
}

const char *foreign_remedy(const char *name)
{
	for (size_t i = 0; i < sizeof(foreign) / sizeof(*foreign); i++) {
		if (is_same(foreign[i].name, name))
			return foreign[i].remedy;
	}
	return NULL;
}
