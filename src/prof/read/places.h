/* places.h -- the parent directories in which `weir profile` makes the directories of its jobs. */
#ifndef PROF_READ_PLACES_H
#define PROF_READ_PLACES_H

#include <stddef.h>

enum { PROF_PLACES = 3 };
#define PROF_PLACE_NAME "weir-prof-" /* prefix of the name of such a directory */

/* Fills in the parent directories, best first: memory, then disks; or only WEIR_PROF_PLACE. Returns
 * their number. */
size_t prof_places(const char *ret[PROF_PLACES]);

#endif
