/* sha256_priv.h -- SHA-256 (FIPS 180-4): the hash by which a page names the one script that may
 * run. */
#ifndef REPORT_SHA256_PRIV_H
#define REPORT_SHA256_PRIV_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

void report_sha256(const void *data, size_t n, uint8_t ret[32]);
void report_base64(struct wr_str *out, const void *data, size_t n);

#endif
