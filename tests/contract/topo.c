/* Every topology in the table, present and future, with several sets of
 * numbers each: wired consistently, and equal to its textbook's closed forms. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "net/topo/cut.h"
#include "net/topo/fail.h"
#include "net/topo/gateway.h"
#include "net/topo/paths.h"
#include "net/topo/split.h"
#include "net/topo/topo.h"
#include "net/topo/topo_crossbar.h"
#include "net/topo/topo_dragonfly.h"
#include "net/topo/topo_dragonfly_plus.h"
#include "net/topo/topo_dragonfly_xc.h"
#include "net/topo/topo_fat_tree.h"
#include "net/topo/topo_file.h"
#include "net/topo/topo_grid.h"
#include "net/topo/topo_slim_fly.h"

struct topo_case {
    const char *kind;
    const void *params;
};

#define CASE(name, type, ...) \
    {                         \
        name, &(struct type)  \
        {                     \
            __VA_ARGS__       \
        }                     \
    }

#define LIST(type, ...)                                                     \
    {                                                                       \
        (type[]){__VA_ARGS__}, sizeof((type[]){__VA_ARGS__}) / sizeof(type) \
    }
#define U32S(...) LIST(uint32_t, __VA_ARGS__)
#define BOOLS(...) LIST(bool, __VA_ARGS__)

static const struct topo_case cases[] = {
    /* groups, routers, nodes, globals, arrangement: absolute, relative, palmtree, ... */
    CASE("dragonfly", topo_dragonfly_params, 9, 4, 2, 2, 0),
    CASE("dragonfly", topo_dragonfly_params, 9, 4, 2, 2, 1),
    CASE("dragonfly", topo_dragonfly_params, 9, 4, 2, 2, 2),
    CASE("dragonfly", topo_dragonfly_params, 9, 4, 2, 2, 3),
    CASE("dragonfly", topo_dragonfly_params, 9, 4, 2, 2, 4),
    CASE("dragonfly", topo_dragonfly_params, 33, 8, 4, 4, 4),
    CASE("dragonfly", topo_dragonfly_params, 0, 3, 1, 1, 3),  /* 4 groups: the odd one across */
    CASE("dragonfly", topo_dragonfly_params, 4, 6, 1, 2, 0),  /* 4 cables per pair */
    CASE("dragonfly", topo_dragonfly_params, 4, 6, 1, 2, 1),  /* the same */
    CASE("dragonfly", topo_dragonfly_params, 4, 6, 1, 2, 2),  /* the same */
    CASE("dragonfly", topo_dragonfly_params, 4, 6, 1, 2, 3),  /* the same */
    CASE("dragonfly", topo_dragonfly_params, 6, 4, 1, 3, 0),  /* 2 per pair, 2 ports spare */
    CASE("dragonfly", topo_dragonfly_params, 2, 4, 3, 2, 3),  /* two groups */
    CASE("dragonfly", topo_dragonfly_params, 1, 5, 1, 0, 0),  /* one group */
    CASE("dragonfly", topo_dragonfly_params, 1, 1, 4, 2, 0),  /* one router */
    CASE("dragonfly", topo_dragonfly_params, 7, 1, 1, 6, 2),  /* groups of one */
    CASE("dragonfly", topo_dragonfly_params, 0, 2, 1, 2, 0),  /* 5 groups of 2 */
    CASE("dragonfly", topo_dragonfly_params, 20, 8, 2, 4, 1), /* ports left over */
    CASE("dragonfly", topo_dragonfly_params, 2, 2, 1, 9, 0),  /* more global than local */

    /* groups, rows, columns, nodes, row_links, column_links, globals, arrangement */
    CASE("dragonfly-xc", topo_dragonfly_xc_params, 3, 3, 4, 2, 1, 3, 1, 0), /* 6 per pair */
    CASE("dragonfly-xc", topo_dragonfly_xc_params, 4, 2, 3, 1, 2, 1, 2, 1),
    CASE("dragonfly-xc", topo_dragonfly_xc_params, 0, 2, 2, 1, 1, 1, 1, 4),   /* one per pair */
    CASE("dragonfly-xc", topo_dragonfly_xc_params, 1, 6, 16, 4, 1, 3, 10, 0), /* one group */
    CASE("dragonfly-xc", topo_dragonfly_xc_params, 2, 1, 4, 1, 1, 1, 1, 2),   /* one row */
    CASE("dragonfly-xc", topo_dragonfly_xc_params, 2, 6, 16, 4, 1, 3, 10, 3),

    /* groups, leaves, spines, nodes, globals, arrangement */
    CASE("dragonfly-plus", topo_dragonfly_plus_params, 0, 4, 4, 2, 2, 0), /* 9 groups */
    CASE("dragonfly-plus", topo_dragonfly_plus_params, 5, 3, 4, 1, 2, 1), /* 2 per pair */
    CASE("dragonfly-plus", topo_dragonfly_plus_params, 2, 4, 3, 2, 2, 2),
    CASE("dragonfly-plus", topo_dragonfly_plus_params, 1, 4, 2, 2, 0, 0), /* one group */
    CASE("dragonfly-plus", topo_dragonfly_plus_params, 4, 2, 2, 1, 3, 3),
    CASE("dragonfly-plus", topo_dragonfly_plus_params, 4, 2, 1, 1, 3, 0), /* one spine */
    CASE("dragonfly-plus", topo_dragonfly_plus_params, 4, 1, 1, 1, 3, 0), /* one of each */

    CASE("fat-tree", topo_fat_tree_params, .radix = 4, .levels = 2),
    CASE("fat-tree", topo_fat_tree_params, .radix = 4, .levels = 3),
    CASE("fat-tree", topo_fat_tree_params, .radix = 6, .levels = 3),
    CASE("fat-tree", topo_fat_tree_params, .radix = 4, .levels = 4),
    CASE("fat-tree", topo_fat_tree_params, .radix = 5, .levels = 1),
    CASE("fat-tree", topo_fat_tree_params, .radix = 9, .levels = 2, .nodes = 6), /* 2:1 */
    CASE("fat-tree", topo_fat_tree_params, .radix = 8, .levels = 3, .nodes = 6, .pods = 3),
    CASE("fat-tree", topo_fat_tree_params, .radix = 8, .levels = 2, .nodes = 5, .uplinks = 2,
         .pods = 4, .width = U32S(2)),
    CASE("fat-tree", topo_fat_tree_params, .down = U32S(3, 4, 6), .up = U32S(4, 2),
         .width = U32S(2, 1)),
    CASE("fat-tree", topo_fat_tree_params, .down = U32S(2, 2, 4),
         .up = U32S(1, 3)), /* leaf-bound */
    CASE("fat-tree", topo_fat_tree_params, .down = U32S(4, 2), .up = U32S(2)),
    CASE("fat-tree", topo_fat_tree_params, .down = U32S(1, 3, 2, 2), .up = U32S(2, 1, 2)),

    CASE("torus", topo_grid_params, .sizes = U32S(8), .nodes = 1),          /* a ring */
    CASE("torus", topo_grid_params, .sizes = U32S(7), .nodes = 2),          /* an odd ring */
    CASE("torus", topo_grid_params, .sizes = U32S(2), .nodes = 1),          /* one cable */
    CASE("torus", topo_grid_params, .sizes = U32S(1), .nodes = 3),          /* one router */
    CASE("torus", topo_grid_params, .sizes = U32S(2, 2, 2, 2), .nodes = 1), /* a hypercube */
    CASE("torus", topo_grid_params, .sizes = U32S(4, 4), .nodes = 1),
    CASE("torus", topo_grid_params, .sizes = U32S(4, 2), .nodes = 1, .width = U32S(3)),
    CASE("torus", topo_grid_params, .sizes = U32S(3, 1, 4), .nodes = 2),
    CASE("torus", topo_grid_params, .sizes = U32S(4, 3, 5), .nodes = 1, .width = U32S(1, 2, 3)),
    CASE("torus", topo_grid_params, .sizes = U32S(4, 4), .nodes = 1, .wrap = BOOLS(true, false)),
    CASE("torus", topo_grid_params, .sizes = U32S(2, 6), .nodes = 1, .wrap = BOOLS(false)),
    CASE("torus", topo_grid_params, .sizes = U32S(3, 2, 3, 2, 2), .nodes = 1),
    CASE("mesh", topo_grid_params, .sizes = U32S(4, 4), .nodes = 1),
    CASE("mesh", topo_grid_params, .sizes = U32S(6, 2), .nodes = 2, .width = U32S(2, 1)),
    CASE("mesh", topo_grid_params, .sizes = U32S(3, 4, 5), .nodes = 1),
    CASE("hyperx", topo_grid_params, .sizes = U32S(6), .nodes = 2), /* a full mesh */
    CASE("hyperx", topo_grid_params, .sizes = U32S(4, 4), .nodes = 1),
    CASE("hyperx", topo_grid_params, .sizes = U32S(4, 2), .nodes = 1, .width = U32S(1, 3)),
    CASE("hyperx", topo_grid_params, .sizes = U32S(3, 4, 5), .nodes = 2, .width = U32S(2, 1, 1)),
    CASE("hyperx", topo_grid_params, .sizes = U32S(2, 1, 2, 2, 2), .nodes = 1),

    CASE("slim-fly", topo_slim_fly_params, 3, 1),
    CASE("slim-fly", topo_slim_fly_params, 4, 0),
    CASE("slim-fly", topo_slim_fly_params, 5, 0), /* the Hoffman-Singleton graph */
    CASE("slim-fly", topo_slim_fly_params, 7, 0),
    CASE("slim-fly", topo_slim_fly_params, 8, 2),
    CASE("slim-fly", topo_slim_fly_params, 9, 1),
    CASE("slim-fly", topo_slim_fly_params, 11, 1),
    CASE("slim-fly", topo_slim_fly_params, 13, 1),
    CASE("slim-fly", topo_slim_fly_params, 16, 1),
    CASE("crossbar", topo_crossbar_params, 1),
    CASE("crossbar", topo_crossbar_params, 12),
    CASE("file", topo_file_params, WEIR_SOURCE_DIR "/examples/topologies/two-racks.topo"),
    CASE("file", topo_file_params, WEIR_SOURCE_DIR "/examples/topologies/star.topo"),
};

enum { NCASES = sizeof cases / sizeof cases[0], FAR = UINT32_MAX, SMALL = 16 };

/* A plain breadth-first search, the oracle: hops from every router to dst. */
static void search(const struct topo *t, uint32_t dst, uint32_t *hops)
{
    uint32_t *queue = wr_alloc(t->nrouters * sizeof *queue), head = 0, tail = 0;

    for (uint32_t r = 0; r < t->nrouters; r++)
        hops[r] = FAR;
    hops[dst] = 0;
    queue[tail++] = dst;
    while (head < tail) {
        uint32_t r = queue[head++];

        for (uint32_t p = 0; p < t->nports; p++) {
            const struct topo_port *port = topo_port(t, r, p);

            if (port->kind != TOPO_ROUTER || hops[port->peer] != FAR)
                continue;
            hops[port->peer] = hops[r] + 1;
            queue[tail++] = port->peer;
        }
    }
    free(queue);
}

/* A step that a path with at most one cable between groups may take. */
static bool one_cable_step(const struct topo *t, uint32_t from, uint32_t to, uint32_t dst)
{
    return t->group[from] == t->group[to] || t->group[to] == t->group[dst];
}

/* The same for TOPO_ONE_CABLE: relax until nothing changes; paths inside the
 * destination's group stay in it. */
static void search_one_cable(const struct topo *t, uint32_t dst, uint32_t *hops)
{
    bool changed = true;

    for (uint32_t r = 0; r < t->nrouters; r++)
        hops[r] = r == dst ? 0 : FAR;
    while (changed) {
        changed = false;
        for (uint32_t r = 0; r < t->nrouters; r++)
            for (uint32_t p = 0; p < t->nports; p++) {
                const struct topo_port *port = topo_port(t, r, p);

                if (port->kind != TOPO_ROUTER || hops[port->peer] == FAR ||
                    !one_cable_step(t, r, port->peer, dst) || hops[r] <= hops[port->peer] + 1)
                    continue;
                hops[r] = hops[port->peer] + 1;
                changed = true;
            }
    }
}

static void classes_and_groups_are_named(const struct topo *t)
{
    assert_true(t->nclasses >= TOPO_OWN && t->nclasses <= TOPO_MAX_CLASSES);
    for (uint32_t c = 0; c < t->nclasses; c++)
        assert_non_null(t->class_name[c]);
    assert_true(t->ngroups >= 1);
    bool *used = wr_zalloc(t->ngroups, 1);
    for (uint32_t r = 0; r < t->nrouters; r++) {
        char name[TOPO_NAME_MAX] = "";

        assert_true(t->group[r] < t->ngroups);
        used[t->group[r]] = true;
        topo_router_name(t, r, name);
        assert_true(name[0] != '\0');
    }
    for (uint32_t g = 0; g < t->ngroups; g++)
        assert_true(used[g]);
    free(used);
}

static void every_cable_has_two_ends_of_one_class(const struct topo *t)
{
    for (uint32_t r = 0; r < t->nrouters; r++)
        for (uint32_t p = 0; p < t->nports; p++) {
            const struct topo_port *near = topo_port(t, r, p);

            if (near->kind != TOPO_ROUTER)
                continue;
            assert_true(near->peer < t->nrouters && near->peer_port < t->nports);
            const struct topo_port *far = topo_port(t, near->peer, near->peer_port);
            assert_int_equal(far->kind, TOPO_ROUTER);
            assert_int_equal(far->peer, r);
            assert_int_equal(far->peer_port, p);
            assert_int_equal(far->cls, near->cls);
            assert_true(near->cls >= TOPO_OWN && near->cls < t->nclasses);
            assert_int_not_equal(near->peer, r);
        }
}

static void every_terminal_is_attached_once(const struct topo *t)
{
    uint32_t found = 0;

    for (uint32_t i = 0; i < t->nterms; i++) {
        assert_true(t->term[i].router < t->nrouters && t->term[i].port < t->nports);
        const struct topo_port *p = topo_port(t, t->term[i].router, t->term[i].port);
        assert_int_equal(p->kind, TOPO_TERMINAL);
        assert_int_equal(p->peer, i);
        assert_int_equal(p->cls, TOPO_EJECT);
    }
    for (uint64_t i = 0; i < (uint64_t)t->nrouters * t->nports; i++)
        found += t->port[i].kind == TOPO_TERMINAL;
    assert_int_equal(found, t->nterms);
}

/* Every router reaches every other; the longest way, of all routers and of those
 * with terminals. */
struct diameter {
    uint32_t all, of_terminals;
};

static struct diameter it_is_connected(const struct topo *t)
{
    uint32_t *hops = wr_alloc(t->nrouters * sizeof *hops);
    bool *has_terminals = wr_zalloc(t->nrouters, 1);
    struct diameter diameter = {0};

    for (uint32_t i = 0; i < t->nterms; i++)
        has_terminals[t->term[i].router] = true;

    for (uint32_t dst = 0; dst < t->nrouters; dst++) {
        search(t, dst, hops);
        for (uint32_t r = 0; r < t->nrouters; r++) {
            assert_true(hops[r] != FAR);
            if (hops[r] > diameter.all)
                diameter.all = hops[r];
            if (has_terminals[r] && has_terminals[dst] && hops[r] > diameter.of_terminals)
                diameter.of_terminals = hops[r];
        }
    }
    free(has_terminals);
    free(hops);
    return diameter;
}

/* The ports that next() must answer, straight from the hops. */
static uint32_t wanted_ports(const struct topo *t, uint32_t here, uint32_t dst,
                             const uint32_t *hops, bool *want)
{
    uint32_t n = 0;

    for (uint32_t p = 0; p < t->nports; p++) {
        const struct topo_port *port = topo_port(t, here, p);

        want[p] = port->kind == TOPO_ROUTER && hops[port->peer] + 1 == hops[here] &&
                  hops[port->peer] != FAR &&
                  (t->ops->minimal == TOPO_SHORTEST || one_cable_step(t, here, port->peer, dst));
        n += want[p];
    }
    return n;
}

static void next_ports_are_exactly_the_minimal_ones(const struct topo *t)
{
    uint32_t *hops = wr_alloc(t->nrouters * sizeof *hops);
    bool *want = wr_alloc(t->nports);

    if (t->ops->minimal == TOPO_ONE_CABLE)
        assert_non_null(t->gateways);
    for (uint32_t dst = 0; dst < t->nrouters && t->ops->next; dst++) {
        if (t->ops->minimal == TOPO_SHORTEST)
            search(t, dst, hops);
        else
            search_one_cable(t, dst, hops);
        for (uint32_t here = 0; here < t->nrouters; here++) {
            uint16_t ports[TOPO_MAX_NEXT];

            if (here == dst)
                continue;
            uint32_t n = t->ops->next(t, here, dst, ports);
            assert_int_equal(n, wanted_ports(t, here, dst, hops, want));
            for (uint32_t i = 0; i < n; i++) {
                assert_true(want[ports[i]]);
                want[ports[i]] = false; /* each once */
            }
        }
    }
    free(hops);
    free(want);
}

static void gateways_are_exactly_the_cables_between_groups(const struct topo *t)
{
    uint64_t crossing = 0, listed = 0;

    if (!t->gateways)
        return;
    for (uint32_t r = 0; r < t->nrouters; r++)
        for (uint32_t p = 0; p < t->nports; p++) {
            const struct topo_port *port = topo_port(t, r, p);

            crossing += port->kind == TOPO_ROUTER && t->group[port->peer] != t->group[r];
        }
    for (uint32_t g = 0; g < t->ngroups; g++)
        for (uint32_t d = 0; d < t->ngroups; d++) {
            uint32_t n;
            const struct topo_gateway *v = topo_gateways(t, g, d, &n);

            assert_true(g == d ? n == 0 : n > 0);
            listed += n;
            for (uint32_t i = 0; i < n; i++) {
                const struct topo_port *port = topo_port(t, v[i].router, v[i].port);

                assert_int_equal(t->group[v[i].router], g);
                assert_int_equal(t->group[v[i].far_router], d);
                assert_int_equal(port->peer, v[i].far_router);
                assert_int_equal(port->peer_port, v[i].far_port);
                if (i)
                    assert_true(v[i - 1].router < v[i].router ||
                                (v[i - 1].router == v[i].router && v[i - 1].port < v[i].port));
            }
        }
    assert_int_equal(listed, crossing);
}

static void closed_forms_equal_what_is_counted(const struct topo *t, uint32_t diameter)
{
    struct topo_facts facts = {0};
    uint64_t ends = 0;

    if (!t->ops->facts)
        return;
    t->ops->facts(t, &facts);
    for (uint32_t r = 0; r < t->nrouters; r++) {
        uint32_t degree = 0;

        for (uint32_t p = 0; p < t->nports; p++)
            degree += topo_port(t, r, p)->kind == TOPO_ROUTER;
        if (facts.degree)
            assert_int_equal(degree, facts.degree);
        ends += degree;
    }
    assert_int_equal(facts.terminals, t->nterms);
    assert_int_equal(facts.routers, t->nrouters);
    assert_int_equal(facts.cables, ends / 2);
    if (facts.diameter)
        assert_int_equal(diameter, facts.diameter);
}

/* The smallest number of cables between equal halves, by trying all of them. */
static uint64_t smallest_bisection(const struct topo *t)
{
    uint64_t best = UINT64_MAX;
    uint32_t terms[SMALL] = {0};

    for (uint32_t i = 0; i < t->nterms; i++)
        terms[t->term[i].router]++;
    for (uint32_t side = 0; side < 1u << (t->nrouters - 1); side++) {
        uint64_t cables = 0, n = 0;

        for (uint32_t r = 0; r < t->nrouters; r++)
            n += side >> r & 1 ? terms[r] : 0;
        if (2 * n != t->nterms)
            continue;
        for (uint32_t r = 0; r < t->nrouters; r++)
            for (uint32_t p = 0; (side >> r & 1) && p < t->nports; p++) {
                const struct topo_port *port = topo_port(t, r, p);

                cables += port->kind == TOPO_ROUTER && !(side >> port->peer & 1);
            }
        best = cables < best ? cables : best;
    }
    return best;
}

static void the_bisection_is_the_closed_form(const struct topo *t)
{
    struct topo_facts facts = {0};
    struct topo_cut cut;

    topo_halve(t, &cut);
    assert_int_equal(cut.terms[0] + cut.terms[1], t->nterms);
    if (t->ops->facts)
        t->ops->facts(t, &facts);
    if (!facts.bisection)
        return;
    assert_int_equal(cut.terms[0], cut.terms[1]);
    assert_int_equal(cut.cables, facts.bisection);
    if (t->nrouters <= SMALL)
        assert_int_equal(smallest_bisection(t), facts.bisection);
}

/* The tables against the oracle, on every wiring. */
static void shortest_path_tables_agree_with_a_plain_search(const struct topo *t, uint32_t diameter)
{
    uint32_t *hops = wr_alloc(t->nrouters * sizeof *hops);
    struct topo_paths paths;
    struct wr_err err = {0};

    assert_true(topo_paths_build(&paths, t, &err));
    assert_int_equal(paths.diameter, diameter);
    for (uint32_t dst = 0; dst < t->nrouters; dst++) {
        search(t, dst, hops);
        for (uint32_t here = 0; here < t->nrouters; here++) {
            uint16_t ports[TOPO_MAX_NEXT];
            uint32_t n = 0;

            assert_int_equal(topo_paths_hops(&paths, here, dst), hops[here]);
            if (here == dst)
                continue;
            for (uint32_t p = 0; p < t->nports; p++)
                n += topo_port(t, here, p)->kind == TOPO_ROUTER &&
                     hops[topo_port(t, here, p)->peer] + 1 == hops[here];
            assert_int_equal(topo_paths_next(&paths, here, dst, ports), n);
            for (uint32_t i = 0; i < n; i++)
                assert_int_equal(hops[topo_port(t, here, ports[i])->peer] + 1, hops[here]);
        }
    }
    topo_paths_free(&paths);
    free(hops);
}

static void a_router_is_found_by_its_name(const struct topo *t)
{
    char name[TOPO_NAME_MAX];
    struct wr_err err = {0};

    for (uint32_t r = 0; r < t->nrouters; r++) {
        uint32_t found;

        topo_router_name(t, r, name);
        assert_true(topo_router_by_name(t, name, &found, &err));
        assert_int_equal(found, r);
    }
}

/* Every router is in one partition, partitions are about equal, and what is counted as cut is. */
static void it_can_be_split(const struct topo *t)
{
    for (uint32_t want = 1; want <= 5; want++) {
        struct topo_split s;
        uint64_t cables = 0, ports = 0;

        topo_split(t, want, NULL, &s);
        assert_in_range(s.n, 1, want);
        assert_true(s.n == want || t->nrouters < 8 * want);
        for (uint32_t r = 0; r < t->nrouters; r++) {
            assert_in_range(s.partition_of[r], 0, s.n - 1);
            for (uint32_t p = 0; p < t->nports; p++) {
                const struct topo_port *port = topo_port(t, r, p);

                ports += port->kind == TOPO_ROUTER || port->kind == TOPO_TERMINAL;
                if (port->kind == TOPO_ROUTER && s.partition_of[port->peer] != s.partition_of[r]) {
                    cables++;
                    assert_true(s.cut_of_class >> port->cls & 1);
                    assert_true(!s.groups_whole || t->group[r] != t->group[port->peer]);
                }
            }
        }
        assert_int_equal(cables, 2 * s.cables);
        assert_true(want == 1 ? !cables : s.n == 1 || cables);
        for (uint32_t i = 0; i < s.n; i++) {
            assert_true(s.ports[i]);
            ports -= s.ports[i];
        }
        assert_int_equal(ports, 0);
        topo_split_free(&s);
    }
}

static void every_topology_keeps_the_contract(void **state)
{
    (void)state;
    for (size_t i = 0; i < NCASES; i++) {
        struct wr_err err = {0};
        struct topo t;
        const struct topo_ops *ops = topo_find(cases[i].kind);

        assert_non_null(ops);
        print_message("  %s, set %zu\n", cases[i].kind, i);
        if (!topo_open(&t, ops, cases[i].params, &err))
            fail_msg("%s", err.text);
        classes_and_groups_are_named(&t);
        every_cable_has_two_ends_of_one_class(&t);
        every_terminal_is_attached_once(&t);
        it_can_be_split(&t);
        struct diameter diameter = it_is_connected(&t);
        next_ports_are_exactly_the_minimal_ones(&t);
        gateways_are_exactly_the_cables_between_groups(&t);
        closed_forms_equal_what_is_counted(&t, diameter.of_terminals);
        the_bisection_is_the_closed_form(&t);
        shortest_path_tables_agree_with_a_plain_search(&t, diameter.all);
        a_router_is_found_by_its_name(&t);
        topo_close(&t);
    }
}

static void every_topology_has_a_case_and_a_summary(void **state)
{
    (void)state;
    for (size_t i = 0; topo_table[i]; i++) {
        bool found = false;

        for (size_t c = 0; c < NCASES; c++)
            found |= !strcmp(cases[c].kind, topo_table[i]->kind.name);
        if (!found)
            fail_msg("topology %s has no case in this test", topo_table[i]->kind.name);
        assert_ptr_equal(topo_kinds[i], &topo_table[i]->kind);
        assert_non_null(topo_table[i]->kind.summary);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_topology_keeps_the_contract),
        cmocka_unit_test(every_topology_has_a_case_and_a_summary),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
