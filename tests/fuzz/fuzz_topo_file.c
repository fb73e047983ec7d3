/* Any bytes: either a machine whose wiring holds together, or one error with
 * its place. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "net/topo/topo_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check(const struct topo *t)
{
    for (uint32_t r = 0; r < t->nrouters; r++)
        for (uint32_t p = 0; p < t->nports; p++) {
            const struct topo_port *near = topo_port(t, r, p);

            if (near->kind != TOPO_ROUTER)
                continue;
            const struct topo_port *far = topo_port(t, near->peer, near->peer_port);
            assert(far->peer == r && far->peer_port == p && far->cls == near->cls);
            assert(near->cls < t->nclasses && t->class_name[near->cls]);
        }
    for (uint32_t i = 0; i < t->nterms; i++) {
        char name[TOPO_NAME_MAX];

        assert(topo_port(t, t->term[i].router, t->term[i].port)->peer == i);
        topo_term_name(t, i, name);
        assert(*name);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct topo t = {.ops = &topo_file, .ngroups = 1};
    struct wr_err err = {0};
    char *text = wr_alloc(len + 1);

    if (len)
        memcpy(text, data, len);
    if (topo_file_build(&t, "fuzz", text, len, &err))
        check(&t);
    else
        assert(err.code == WR_INPUT && !strncmp(err.text, "fuzz:", 5));
    topo_close(&t);
    return 0;
}
