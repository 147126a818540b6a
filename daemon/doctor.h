/* SPDX-License-Identifier: Apache-2.0 */
/* doctor.h: --doctor: what this machine allows, a line each, and a line of remedy for each thing missing. Main thread. */
#ifndef RINGTAIL_DOCTOR_H
#define RINGTAIL_DOCTOR_H

#include <stdio.h>

struct config;

/* 0 when serving is possible, else 1. */
int doctor_run(const struct config *config, FILE *out);

#endif
