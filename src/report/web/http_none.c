/* http_none.c -- stands in for http.c where libmicrohttpd is missing: web_serve() fails and says
 * so. */
#include "web_priv.h"

bool web_serve(struct web_server **ret, struct web_site *s, const struct web_listen *at,
               unsigned *ret_port, struct wr_err *err)
{
    (void)ret;
    (void)s;
    (void)at;
    (void)ret_port;
    return wr_fail(err, WR_INPUT,
                   "this weir was built without libmicrohttpd; build it where that is installed "
                   "(Debian: libmicrohttpd-dev), or make pages with `weir report`");
}

void web_serve_tick(struct web_server *w)
{
    (void)w;
}

void web_serve_end(struct web_server *w)
{
    (void)w;
}
