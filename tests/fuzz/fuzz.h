/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz.h: what a fuzzer defines; called by libFuzzer (make fuzz) or by replay.c (make check). */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#endif
