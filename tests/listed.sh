#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# listed.sh: a source or test that no fragment lists is neither built, run nor distributed. Needs srcdir.
cd "${srcdir:?}" || exit 99
failed=0
for file in lib/*.[ch] daemon/*.[ch] daemon/python/*.[ch] tests/unit/*.[ch] tests/fuzz/*.[ch] tests/*/test_*.py; do
	[ -f "$file" ] || continue
	if ! grep -qwF -- "$file" lib/local.mk daemon/local.mk docs/local.mk tests/local.mk; then
		echo "# $file is in no local.mk"
		failed=1
	fi
done
[ $failed = 0 ] || printf 'not '
echo "ok 1 - every source and test is listed in a local.mk"
echo "1..1"
