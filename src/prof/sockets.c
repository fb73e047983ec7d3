/* sockets.c -- parses the list of servers whose connections count as storage.
 *
 * Names are resolved here, in the launcher: the library in the job compares addresses only.
 */
#include "prof/sockets.h"

#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/mem.h"

static bool sockets_is_port(const char *text)
{
    char *end;
    unsigned long n = strtoul(text, &end, 10);

    return *text >= '0' && *text <= '9' && !*end && n > 0 && n < 65536;
}

/* A socket that is there, or a path at least. */
static bool sockets_is_path(const char *text)
{
    struct stat st;

    return strchr(text, '/') || (!stat(text, &st) && S_ISSOCK(st.st_mode));
}

static void sockets_add(struct wr_str *to, const char *item)
{
    wr_str_addf(to, "%s%s", to->n ? "," : "", item);
}

/* The addresses of a name, each with the port if there is one. */
static bool sockets_add_name(struct wr_str *to, const char *name, const char *port,
                             struct wr_err *err)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *all;
    int why = getaddrinfo(name, NULL, &hints, &all);

    if (why)
        return wr_fail(err, WR_INPUT,
                       "no server \"%.80s\" (%s); give a port, an address or the path of a socket",
                       name, gai_strerror(why));
    for (const struct addrinfo *a = all; a; a = a->ai_next) {
        char text[128], item[160];
        bool six = *port && a->ai_family == AF_INET6;

        if (getnameinfo(a->ai_addr, a->ai_addrlen, text, sizeof text, NULL, 0, NI_NUMERICHOST))
            continue;
        snprintf(item, sizeof item, "%s%s%s%s%s", six ? "[" : "", text, six ? "]" : "",
                 *port ? ":" : "", port);
        sockets_add(to, item);
    }
    freeaddrinfo(all);
    return true;
}

/* "host:2049" and "[fe80::1]:2049" have a port; "fe80::1" has none. */
static bool sockets_add_one(struct wr_str *to, char *item, struct wr_err *err)
{
    char *colon = strrchr(item, ':'), *name = item, *close;

    if (!*item)
        return wr_fail(err, WR_INPUT,
                       "one of its parts is empty; give ports, addresses or paths with commas "
                       "between");
    if (sockets_is_port(item) || sockets_is_path(item)) {
        sockets_add(to, item);
        return true;
    }
    if (!item[strspn(item, "0123456789")])
        return wr_fail(err, WR_INPUT, "%.80s is no port; give 1 to 65535", item);
    if (colon && (colon == item || (strchr(item, ':') != colon && colon[-1] != ']')))
        colon = NULL;
    if (colon && !sockets_is_port(colon + 1))
        return wr_fail(err, WR_INPUT, "\"%.80s\" has no port behind its colon; give 1 to 65535",
                       item);
    if (colon)
        *colon = 0;
    if (*name == '[' && (close = strchr(name, ']'))) {
        *close = 0;
        name++;
    }
    return sockets_add_name(to, name, colon ? colon + 1 : "", err);
}

bool prof_sockets(struct wr_str *ret, const char *list, struct wr_err *err)
{
    char *all = wr_strdup(list), *rest = all, *item;
    bool ok = true;

    while (ok && (item = strsep(&rest, ",")))
        ok = sockets_add_one(ret, item, err);
    free(all);
    return ok;
}
