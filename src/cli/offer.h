/* offer.h -- the values that the shell's completion offers for options and arguments. */
#ifndef CLI_OFFER_H
#define CLI_OFFER_H

#include <stdio.h>

/* For KEY=VALUE of a configuration: the keys, each with an equals sign; after a key and the sign,
 * its choices. `typed` is the word so far. */
void cli_offer_settings(const char *typed, FILE *out);

/* The names of the routings. */
void cli_offer_routings(const char *typed, FILE *out);

/* The run files (*.weir) in the directory of the word so far, and its directories; nothing where
 * there is no run file. */
void cli_offer_runs(const char *typed, FILE *out);

#endif
