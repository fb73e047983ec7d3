/* version.h -- what this program is: run files record it, `weir version` prints it. */
#ifndef BASE_VERSION_H
#define BASE_VERSION_H

#include <stdbool.h>

/* "1.2.3", and where the build knew it the source's revision: "1.2.3 (4f2a9c1)". */
const char *wr_version(void);
const char *wr_version_number(void);
const char *wr_version_revision(void); /* "" when built outside of git */
const char *wr_version_compiler(void);
const char *wr_version_build(void); /* "Release", "Debug address,undefined" */

/* Optional parts; the table ends with a NULL name. cmake/features.cmake fills it. */
struct wr_feature {
    const char *name;    /* "mpi" */
    const char *summary; /* what it adds */
    const char *version; /* of the library, or "" */
    const char *package; /* Debian's packages to install where it is missing, or "" */
    bool found;
};

const struct wr_feature *wr_features(void);

#endif
