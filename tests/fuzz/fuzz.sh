#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# fuzz.sh: make fuzz as one test of make check-long. Needs builddir; FUZZ_SECONDS each fuzzer.
if ! command -v "${FUZZ_CLANG:-clang}" >/dev/null; then
	echo "1..0 # SKIP no clang: apt-get install clang libclang-rt-dev"
	exit 0
fi
if make -C "${builddir:?}" fuzz "FUZZ_SECONDS=${FUZZ_SECONDS:-120}" "FUZZ_CLANG=${FUZZ_CLANG:-clang}" >fuzz.log 2>&1; then
	echo "ok 1 - the fuzzers find nothing"
else
	tail -n 60 fuzz.log | sed 's/^/# /'
	echo "not ok 1 - the fuzzers find nothing (fuzz.log)"
fi
echo "1..1"
