/* version.c -- version, revision and optional features, as the build recorded them.
 *
 * build.inc and revision.inc are written by cmake/features.cmake and cmake/revision.cmake.
 */
#include "base/version.h"

#include <stddef.h>

#include "build.inc"
#include "revision.inc"

const char *wr_version(void)
{
    return sizeof WEIR_REVISION > 1 ? WEIR_VERSION " (" WEIR_REVISION ")" : WEIR_VERSION;
}

const char *wr_version_number(void)
{
    return WEIR_VERSION;
}

const char *wr_version_revision(void)
{
    return WEIR_REVISION;
}

const char *wr_version_compiler(void)
{
    return WEIR_COMPILER;
}

const char *wr_version_build(void)
{
    return WEIR_BUILD;
}

const struct wr_feature *wr_features(void)
{
    return features;
}
