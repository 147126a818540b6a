/* SPDX-License-Identifier: Apache-2.0 */
/* config_print.h: the table of options for people: --help, --print-config, and the options of ringtail(1). Main thread. */
#ifndef RINGTAIL_CONFIG_PRINT_H
#define RINGTAIL_CONFIG_PRINT_H

#include <stdio.h>

struct config;

/* At most 80 columns. */
void config_print_help(FILE *out);

/* One line an option: name, value, where it came from. */
void config_print(const struct config *config, FILE *out);

/* The options in roff (man macros), grouped; what replaces @OPTIONS@ in docs/ringtail.1.in. */
void config_print_man(FILE *out);

#endif
