/* web.h -- the viewer's answers, without a network: a request in, an answer out.
 *
 *   target "/api/report?run=a.weir" ──web_parse──> struct web_request ──web_answer──> struct
 * web_answer
 *
 * http.c is the thin layer that carries both over HTTP. What the addresses are is said in
 * docs/formats/report.md. A run is named by an id that is looked up in the list of those found; no
 * text of a request ever becomes a path. Everything is only read, unless runs were allowed to be
 * started.
 */
#ifndef REPORT_WEB_WEB_H
#define REPORT_WEB_WEB_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"
#include "report/doc.h"

enum { WEB_MOST_PARAMS = 80, WEB_LONGEST_TARGET = 16384, WEB_LONGEST_BODY = 65536 };

struct web_param {
    const char *key, *value;
};

struct web_request {
    const char *method; /* "GET" */
    const char *path;   /* decoded: "/api/runs" */
    struct web_param param[WEB_MOST_PARAMS];
    size_t nparams;
    const char *host, *origin, *authorization, *type; /* headers, or NULL */
    const char *body;
    size_t len;
};

/* Splits and decodes what stands after the method of a request. Memory is the arena's. False: it is
 * no target that anybody means. */
bool web_parse(struct web_request *ret, const char *target, struct wr_arena *arena);
const char *web_param(const struct web_request *q, const char *key); /* the first of it, or NULL */

struct web_answer {
    unsigned status;
    const char *type;
    struct wr_str body;
    const char *policy; /* the content security policy */
};

/* A run file that was found. */
struct web_run {
    char *id, *path, *dir; /* dir: id of its directory */
    char *json;            /* its row of /api/runs, without the last bracket */
    int64_t size, mtime_ns;
    int status; /* enum run_status */
    char *study;
    int64_t of; /* runs of that study */
    bool seen;  /* in the last look */
};

struct web_dir {
    char *id, *path;
    bool seen;
};

struct web_config {
    const char *const *operands; /* directories and run files */
    size_t n;
    const struct report_maker *const *makers;
    const struct report_bundled *code; /* NULL: none */
    const char *token;                 /* NULL: none is needed */
    bool loopback;                     /* then only names of this machine are answered to */
    bool allow_run;
    const char *program; /* what starts a study; with allow_run */
};

struct web_site {
    struct web_config c;
    pthread_mutex_t lock; /* of what is below */
    WR_VEC(struct web_run) run;
    WR_VEC(struct web_dir) dir;
    WR_VEC(struct web_dir) study; /* files that may be started */
};

/* Looks what is there. An operand that is no directory and no run file is an error. */
bool web_open(struct web_site *ret, const struct web_config *c, struct wr_err *err);
void web_close(struct web_site *s);
void web_answer(struct web_site *s, const struct web_request *q, struct web_answer *ret);

/* ---- over HTTP, where the library is in ---- */

struct web_server;

/* Port 0: any that is free. `ret_port` is the one it is. */
bool web_serve(struct web_server **ret, struct web_site *s, const char *address, unsigned port,
               unsigned *ret_port, struct wr_err *err);
void web_serve_end(struct web_server *w);

#endif
