/* cli_json.h -- prints a result as JSON, for the verbs whose result is not a table (cli_table.h).
 */
#ifndef CLI_CLI_JSON_H
#define CLI_CLI_JSON_H

#include <jansson.h>
#include <stdio.h>

/* Prints and releases the value, which is not NULL. Whatever is no UTF-8 in a string makes
 * json_pack() fail: use cli_json_string() for what users and files name. */
void cli_json_print(FILE *out, json_t *value);
/* The same on one line, for results that go on and on: one line each. */
void cli_json_print_line(FILE *out, json_t *value);

/* A new string; bytes that are not UTF-8 become "?". NULL: a JSON null. */
json_t *cli_json_string(const char *text);
/* A new number; null where it is not finite. */
json_t *cli_json_real(double value);

#endif
