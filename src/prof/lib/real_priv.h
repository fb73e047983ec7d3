/* real_priv.h -- the next function of the same name, found once, at its first call.
 *
 * Uses RTLD_NEXT, so that other preloaded libraries are called as well. Constructors of other
 * libraries may call before ours has run, so each call checks its pointer. A function that no
 * library has returns -1 with ENOSYS.
 */
#ifndef PROF_REAL_PRIV_H
#define PROF_REAL_PRIV_H

void *lib_find(void **slot, const char *name);
void *lib_look(const char *name); /* NULL: no library has it */

/* LIB_REAL(write)(fd, buf, n): the prototype in scope gives the type. */
#define LIB_REAL(name)                                        \
    (*({                                                      \
        static void *real_;                                   \
        void *r_ = __atomic_load_n(&real_, __ATOMIC_RELAXED); \
        if (__builtin_expect(!r_, 0))                         \
            r_ = lib_find(&real_, #name);                     \
        (__typeof__(&name))r_;                                \
    }))

#endif
