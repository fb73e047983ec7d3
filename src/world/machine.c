/* machine.c -- checks a machine's configuration against its topology, and builds world_network.
 * Errors name the place in the file (conf_fail). */
#include "world/machine.h"

#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "net/topo/fail.h"

static const struct world_link *machine_find_link(const struct world_machine *m, const char *name)
{
    const struct world_link *links = m->links.items;

    for (size_t i = 0; i < m->links.n; i++)
        if (!strcmp(links[i].key.name, name))
            return &links[i];
    return NULL;
}

/* Every link the user names must be a class of the topology, or `default`. */
static bool machine_check_names(const struct conf *conf, const struct world_machine *m,
                                const struct topo *t, struct wr_err *err)
{
    const struct world_link *links = m->links.items;

    for (size_t i = 0; i < m->links.n; i++) {
        struct wr_nearest near = {.want = links[i].key.name};
        struct wr_str known = {0};
        bool found = !strcmp(links[i].key.name, "default");

        for (uint32_t c = 0; c < t->nclasses; c++) {
            found |= !strcmp(links[i].key.name, t->class_name[c]);
            wr_nearest_try(&near, t->class_name[c]);
            wr_str_addf(&known, "%s%s", c ? ", " : "", t->class_name[c]);
        }
        if (!found && near.best)
            conf_fail(conf, &links[i], err,
                      "topology %s has no link class \"%s\"; did you mean \"%s\"? It has %s",
                      t->ops->kind.name, links[i].key.name, near.best, wr_str_get(&known));
        else if (!found)
            conf_fail(conf, &links[i], err, "topology %s has no link class \"%s\"; it has %s",
                      t->ops->kind.name, links[i].key.name, wr_str_get(&known));
        wr_str_fini(&known);
        if (!found)
            return false;
    }
    return true;
}

static bool machine_is_default(const struct conf *conf, const void *field)
{
    return !strcmp(conf_origin(conf, field), "default");
}

/* A link's buffer must hold a packet. The error is at the value that the user wrote: at the packet
 * size if the buffer is a default. */
static bool machine_check_link(const struct conf *conf, const struct world_link *l,
                               const uint64_t *packet_b, struct wr_err *err)
{
    const char *name = l->key.name;

    if ((double)*packet_b > l->bandwidth)
        return conf_fail(conf, &l->bandwidth, err,
                         "a packet of %s takes more than a second on links.%s; raise its bandwidth "
                         "or lower nic.packet",
                         wr_text_bytes(*packet_b).s, name);
    if (l->buffer_b < *packet_b)
        return conf_fail(conf,
                         machine_is_default(conf, &l->buffer_b) ? (const void *)packet_b
                                                                : (const void *)&l->buffer_b,
                         err,
                         "a buffer of %s does not hold a packet of %s; raise links.%s.buffer or "
                         "lower nic.packet",
                         wr_text_bytes(l->buffer_b).s, wr_text_bytes(*packet_b).s, name);
    return true;
}

static bool machine_check_rails(const struct conf *conf, const struct world_machine *m,
                                const struct topo *t, struct wr_err *err)
{
    uint32_t fewer = m->nic.rails;

    if (t->nterms % m->nic.rails == 0)
        return true;
    while (t->nterms % fewer)
        fewer--;
    return conf_fail(conf, &m->nic.rails, err,
                     "%u terminals cannot be shared out to nodes of %u rails; choose a divisor, "
                     "such as %u, or change the topology's nodes",
                     t->nterms, m->nic.rails, fewer);
}

static bool machine_set_links(const struct conf *conf, const struct world_machine *m,
                              const struct topo *t, struct net_params *p, struct wr_err *err)
{
    if (!machine_check_names(conf, m, t, err))
        return false;
    for (uint32_t c = 0; c < t->nclasses; c++) {
        const struct world_link *l = machine_find_link(m, t->class_name[c]);

        if (!l && c == TOPO_EJECT)
            l = machine_find_link(m, t->class_name[TOPO_INJECT]);
        if (!l)
            l = machine_find_link(m, "default");
        if (!l)
            return conf_fail(conf, &m->links, err,
                             "link class \"%s\" of topology %s is not given; add links.%s or "
                             "links.default",
                             t->class_name[c], t->ops->kind.name, t->class_name[c]);
        if (!machine_check_link(conf, l, &m->nic.packet_b, err))
            return false;
        p->link[c] = (struct net_link_params){l->bandwidth, l->latency_ps, l->buffer_b};
    }
    return true;
}

static bool machine_set_failures(const struct conf *conf, const struct world_machine *m,
                                 struct topo *t, struct wr_err *err)
{
    const struct world_failure *list = m->failures.items;
    bool ok = true;

    for (size_t i = 0; ok && i < m->failures.n; i++) {
        struct topo_failure f = {.b = TOPO_NONE};

        ok = topo_router_by_name(t, list[i].router, &f.a, err) &&
             (!list[i].to || !*list[i].to || topo_router_by_name(t, list[i].to, &f.b, err)) &&
             topo_fail(t, &f, 1, err);
        if (!ok) {
            struct wr_err inner = *err;

            conf_fail(conf, &list[i], err, "%s", inner.text);
        }
    }
    return ok;
}

static void machine_set_rest(const struct world_machine *m, struct net_params *p)
{
    const struct world_router *r = &m->router;
    const struct world_nic *nic = &m->nic;

    p->router_delay_ps = r->delay_ps;
    p->credit_delay_ps = r->credit_delay_ps;
    p->credit_on_link = r->credit_on_link;
    p->switch_time_ps = r->switch_time_ps;
    p->arbitration = r->arbitration;
    p->accounting = r->accounting;
    p->switching = r->switching;
    p->queueing = r->queueing;
    p->ejection = r->ejection;
    p->packet_b = nic->packet_b;
    p->message_gap_ps = nic->message_gap_ps;
    p->rails = nic->rails;
    p->rail_choice = nic->rail_choice;
}

bool world_network_open(struct world_network *ret, const struct conf *conf,
                        const struct world_machine *m, struct wr_err *err)
{
    *ret = (struct world_network){0};
    if (!topo_open(&ret->topo, (const struct topo_ops *)m->topology.kind, m->topology.params,
                   err)) {
        struct wr_err inner = *err;

        return conf_fail(conf, &m->topology, err, "%s", inner.text);
    }
    if (!machine_set_failures(conf, m, &ret->topo, err) ||
        !machine_set_links(conf, m, &ret->topo, &ret->net, err) ||
        !machine_check_rails(conf, m, &ret->topo, err)) {
        topo_close(&ret->topo);
        return false;
    }
    machine_set_rest(m, &ret->net);
    if (!route_open(&ret->route, (const struct route_ops *)m->routing.kind, m->routing.params,
                    &ret->topo, err)) {
        struct wr_err inner = *err;

        topo_close(&ret->topo);
        return conf_fail(conf, &m->routing, err, "%s", inner.text);
    }
    return true;
}

void world_network_close(struct world_network *p)
{
    route_close(&p->route);
    topo_close(&p->topo);
}
