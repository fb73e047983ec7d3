/* places.h -- where `weir profile` makes the directories of its jobs, and where they are looked
 * for. */
#ifndef PROF_READ_PLACES_H
#define PROF_READ_PLACES_H

#include <stddef.h>

enum { PROF_PLACES = 3 };
#define PROF_PLACE_NAME "weir-prof-" /* begins the name of such a directory */

/* The places, best first: memory, then disks; or what WEIR_PROF_PLACE names, alone. How many. */
size_t prof_places(const char *ret[PROF_PLACES]);

#endif
