#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# installcheck.sh: what was installed works from where it lies. Run by make installcheck, which gives BINDIR, LIBDIR (both
# with DESTDIR in front), DESTDIR, CC, CFLAGS, PKG_CONFIG and has_daemon.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "installcheck: $*" >&2; exit 1; }

if [ "$has_daemon" = yes ]; then
	"$BINDIR/ringtail" --version >"$work/version" || fail "ringtail --version ended with status $?"
	grep -q "$VERSION" "$work/version" || fail "ringtail --version says: $(cat "$work/version"), not $VERSION"
	cat >"$work/app.py" <<-'END'
		def application(environ, start_response):
		    start_response("200 OK", [("Content-Type", "text/plain")])
		    return [b"hello"]
	END
	(cd "$work" && PYTHONDONTWRITEBYTECODE=1 "$BINDIR/ringtail" --check app.py) || fail "ringtail --check app.py ended with status $?"
fi

# The headers, one by one and in any order, and a pool that runs a job.
PKG_CONFIG_PATH=$LIBDIR/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
PKG_CONFIG_SYSROOT_DIR=$DESTDIR
export PKG_CONFIG_PATH
[ -z "$DESTDIR" ] || export PKG_CONFIG_SYSROOT_DIR
[ "$($PKG_CONFIG --modversion libringtail)" = "$VERSION" ] || fail "libringtail.pc does not say $VERSION"
cat >"$work/program.c" <<'EOF2'
#include <ringtail/hist.h>
#include <ringtail/elastic.h>
#include <ringtail/job.h>
#include <ringtail/clock.h>

static int runs;

static void run(void *arg, enum rtail_act act)
{
	if (act == RTAIL_RUN)
		__atomic_add_fetch((int *)arg, 1, __ATOMIC_RELAXED);
}

int main(void)
{
	struct rtail_elastic_config config;
	struct rtail_elastic *pool;

	rtail_elastic_config_init(&config);
	config.threads = 1;
	if (rtail_elastic_new(&config, &pool) < 0 || rtail_elastic_start(pool) < 0)
		return 2;
	if (rtail_elastic_submit(pool, (struct rtail_job){ .fn = run, .arg = &runs }, rtail_now_ns(), 0) < 0)
		return 3;
	if (rtail_elastic_stop(pool, true, UINT64_MAX) < 0)
		return 4;
	rtail_elastic_free(pool);
	return runs == 1 ? 0 : 5;
}
EOF2
# shellcheck disable=SC2046,SC2086
$CC $CFLAGS -o "$work/program" "$work/program.c" $($PKG_CONFIG --cflags --libs libringtail) || fail "a program for libringtail does not build"
LD_LIBRARY_PATH=$LIBDIR "$work/program" || fail "a program with libringtail ended with status $?"
