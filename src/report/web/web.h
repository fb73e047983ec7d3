/* web.h -- the viewer's answers, without a network: a request in, an answer out.
 *
 *   target "/api/report?run=a.weir" ──web_parse──> struct web_request ──web_answer──> struct
 * web_answer
 *
 * http.c is the thin layer that carries both over HTTP. What the addresses are is said in
 * docs/formats/report.md. A run is named by an id that is looked up in the list of those found; no
 * text of a request ever becomes a path. Everything is only read, unless runs were allowed to be
 * started. Reading has a deadline per request and a smaller one per file of the list, so that a
 * file that takes for ever is its own trouble.
 */
#ifndef REPORT_WEB_WEB_H
#define REPORT_WEB_WEB_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/token.h"
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
 * no well-formed target. */
bool web_parse(struct web_request *ret, const char *target, struct wr_arena *arena);
const char *web_param(const struct web_request *q, const char *key); /* the first of it, or NULL */

/* Filled by web_answer(); http.c sends it and frees the body. */
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
    int status;  /* enum run_status */
    char *study; /* or experiment, that it is a run of; NULL: of none */
    bool trial;  /* of an experiment */
    int64_t of;  /* runs of that study; 0: not known */
    bool seen;   /* in the last look */
    bool unread; /* there was no time for it yet */
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
    const struct wr_token *token;      /* NULL: none is needed */
    bool loopback;                     /* then only names of this machine are answered to */
    bool allow_run;
    const char *refusal;  /* the answer where studies may not be started; NULL: a general one */
    const char *program;  /* what starts a study; with allow_run */
    uint64_t deadline_ns; /* for one request; 0: half a minute */
};

/* A requested study: it runs, or waits for others to end. */
struct web_study {
    char *name;
    char **argv;
    char *log;
    int pid; /* 0: it waits */
};

struct web_site {
    struct web_config c;
    pthread_mutex_t lock; /* of what is below */
    pthread_cond_t read;  /* a report was made */
    unsigned reading;     /* reports being made */
    WR_VEC(struct web_run) run;
    WR_VEC(struct web_dir) dir;
    WR_VEC(struct web_dir) study;       /* files that may be started */
    WR_VEC(struct web_study) requested; /* in the order of the requests */
};

/* Looks what is there. An operand that is no directory and no run file is an error. */
bool web_open(struct web_site *ret, const struct web_config *c, struct wr_err *err);
void web_close(struct web_site *s);
void web_answer(struct web_site *s, const struct web_request *q, struct web_answer *ret);

/* Call it now and then: starts a study that waits when one has ended. */
void web_tick(struct web_site *s);

/* ---- over HTTP, where the library is in ---- */

struct web_server;

struct web_listen {
    const char *address;
    unsigned port;      /* 0: any that is free */
    const char *socket; /* a file that only its owner may open, in place of both; or NULL */
};

/* `ret_port` is the port it is. */
bool web_serve(struct web_server **ret, struct web_site *s, const struct web_listen *at,
               unsigned *ret_port, struct wr_err *err);
/* Call it now and then: lets go of connections on which nothing comes. */
void web_serve_tick(struct web_server *w);
void web_serve_end(struct web_server *w);

#endif
