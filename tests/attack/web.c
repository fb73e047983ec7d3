/* web.c -- attacks `weir serve --allow-run` on this machine, and looks whether others notice.
 *
 *   attack-web BUILD_DIR SECONDS
 *
 * The directory that is served holds a good run and run files made to be endless. Attackers have no
 * token, but for those who ask for the endless files and read no answers: they are users who err.
 * Nothing but 127.0.0.1 is talked to.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/rng.h"
#include "base/str.h"

enum { TRICKLERS = 150, DEAF = 20, PATIENCE_S = 10 };

struct web_attack {
    char dir[64], token[40];
    const char *weir;
    pid_t server;
    uint16_t port;
    int trickler[TRICKLERS], deaf[DEAF]; /* sockets, or -1 */
    struct wr_rng rng;
    /* figures */
    uint64_t held, dropped, guesses, garbage, good;
    double slowest_s;
    char fault[256]; /* "" : none */
};

/* The first is the one that is reported. */
static void fault(struct web_attack *a, const char *what, const char *of, int value)
{
    if (!*a->fault)
        snprintf(a->fault, sizeof a->fault, "%s (%s: %d)", what, of, value);
}

/* ---- the server ---- */

static bool run_weir(const char *weir, const char *const *words)
{
    char *argv[12] = {(char *)weir};
    int status;

    for (int i = 0; words[i] && i < 10; i++)
        argv[i + 1] = (char *)words[i];
    pid_t pid = fork();
    if (!pid) {
        int null = open("/dev/null", O_RDWR);

        dup2(null, 1);
        execv(weir, argv);
        _exit(98);
    }
    return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && !WEXITSTATUS(status);
}

static void change(const char *path, const char *sql)
{
    sqlite3 *db;

    if (sqlite3_open(path, &db) != SQLITE_OK || sqlite3_exec(db, sql, NULL, NULL, NULL))
        fprintf(stderr, "attack-web: %s: %s\n", path, sqlite3_errmsg(db));
    sqlite3_close(db);
}

#define ENDLESS "WITH RECURSIVE i(x) AS (VALUES(1) UNION ALL SELECT x + 1 FROM i) "

static bool make_runs(struct web_attack *a)
{
    static const char *const bad[] = {
        "DROP VIEW summary; CREATE VIEW summary AS " ENDLESS
        "SELECT 'title' AS key, x AS value, '' AS unit, 0 AS volatile FROM i WHERE x < 0",
        "DROP TABLE meta; CREATE VIEW meta AS " ENDLESS
        "SELECT 'status' AS key, randomblob(1000) AS value FROM i ORDER BY 2",
        "DROP TABLE fact_slice; CREATE VIEW fact_slice AS " ENDLESS
        "SELECT x AS t_ps, 1 AS series, 1 AS dt_ps, x AS value FROM i",
        ("UPDATE meta SET value = 'elsewhere' WHERE key = 'host';"
         "UPDATE meta SET value = 'running' WHERE key = 'status'"),
        "UPDATE fact_rank SET idle_ps = '1e999', compute_ps = 1e400",
    };
    char example[512], path[128], copy[1024];

    snprintf(example, sizeof example, "%s/examples/two-jobs.yaml", WEIR_SOURCE_DIR);
    snprintf(path, sizeof path, "%s/good.weir", a->dir);
    if (!run_weir(a->weir, (const char *const[]){"run", example, "-q", "-o", path, NULL}))
        return false;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char name[128];

        snprintf(name, sizeof name, "%s/bad%zu.weir", a->dir, i);
        snprintf(copy, sizeof copy, "cp '%s' '%s'", path, name);
        if (system(copy))
            return false;
        change(name, bad[i]);
    }
    snprintf(copy, sizeof copy, "printf 'name: s\\nrun: %s\\ncross:\\n' > '%s/s.yaml'", example,
             a->dir);
    return !system(copy);
}

/* Reads the port and the token from what it prints. */
static bool start_server(struct web_attack *a)
{
    int out[2];
    char line[512] = "";

    if (pipe(out))
        return false;
    a->server = fork();
    if (!a->server) {
        dup2(out[1], 1);
        close(out[0]);
        execl(a->weir, a->weir, "serve", "--port", "0", "--allow-run", "--deadline", "3", a->dir,
              (char *)NULL);
        _exit(98);
    }
    close(out[1]);
    for (size_t n = 0; n < sizeof line - 1 && !strchr(line, '\n'); n++)
        if (read(out[0], line + n, 1) != 1)
            break;
    unsigned port;
    return sscanf(line, "open http://127.0.0.1:%u/?token=%32[0-9a-f]", &port, a->token) == 2 &&
           (a->port = (uint16_t)port, true);
}

/* ---- talking ---- */

static int connect_to(const struct web_attack *a)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(a->port)};
    struct timeval wait = {.tv_sec = PATIENCE_S};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait);
    if (connect(fd, (struct sockaddr *)&at, sizeof at) == 0)
        return fd;
    close(fd);
    return -1;
}

static bool send_text(int fd, const char *text, size_t n)
{
    return send(fd, text, n, MSG_NOSIGNAL) == (ssize_t)n;
}

/* The status of the answer, read to its end; 0: there was none in time. */
static int ask(const struct web_attack *a, const char *method, const char *target,
               const char *token, const char *body)
{
    struct wr_str q = {0};
    char head[64] = "", rest[16384];
    size_t n = 0;
    int status = 0, fd = connect_to(a);

    if (fd < 0)
        return 0;
    wr_str_addf(&q, "%s %s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nConnection: close\r\n", method, target,
                a->port);
    if (token)
        wr_str_addf(&q, "Authorization: Bearer %s\r\n", token);
    wr_str_addf(&q, "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s", strlen(body),
                body);
    if (send_text(fd, q.s, q.n))
        for (ssize_t got; (got = recv(fd, rest, sizeof rest, 0)) > 0; n += (size_t)got)
            if (!n)
                snprintf(head, sizeof head, "%.*s", (int)got, rest);
    close(fd);
    wr_str_fini(&q);
    return sscanf(head, "HTTP/1.1 %d", &status) == 1 ? status : 0;
}

/* ---- attackers ---- */

/* A request that never ends, a byte at a time; a client that is dropped connects again. */
static void trickle(struct web_attack *a)
{
    static const char begin[] = "GET /api/runs HTTP/1.1\r\nX: ";

    for (int i = 0; i < TRICKLERS; i++) {
        if (a->trickler[i] < 0 && (a->trickler[i] = connect_to(a)) >= 0) {
            a->held++;
            send_text(a->trickler[i], begin, sizeof begin - 1);
        } else if (a->trickler[i] >= 0 && !send_text(a->trickler[i], "x", 1)) {
            close(a->trickler[i]);
            a->trickler[i] = -1;
            a->dropped++;
        }
    }
}

/* Asks for an endless run and takes no byte of the answer. */
static void be_deaf(struct web_attack *a)
{
    int i = (int)wr_rng_below(&a->rng, DEAF);
    char q[256];

    if (a->deaf[i] >= 0)
        close(a->deaf[i]);
    a->deaf[i] = connect_to(a);
    const char *slash = strrchr(a->dir, '/');
    snprintf(
        q, sizeof q,
        "GET /api/report?run=%s/bad%u.weir HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "
        "%s\r\n\r\n",
        slash + 1, wr_rng_below(&a->rng, 5), a->token);
    if (a->deaf[i] >= 0)
        send_text(a->deaf[i], q, strlen(q));
}

static void guess(struct web_attack *a)
{
    static const char *const targets[] = {"/", "/api/runs", "/api/progress", "/api/study",
                                          "/report?run=good.weir"};
    const char *target = targets[wr_rng_below(&a->rng, 5)];
    char token[33];

    for (int i = 0; i < 32; i++)
        token[i] = "0123456789abcdef"[wr_rng_below(&a->rng, 16)];
    token[wr_rng_below(&a->rng, 4) ? 32 : wr_rng_below(&a->rng, 32)] = '\0';
    int status = ask(a, "GET", target, wr_rng_below(&a->rng, 3) ? token : NULL, "");
    if (status != 403 && status)
        fault(a, "answered without the token", target, status);
    status = ask(a, "POST", "/api/study", token, "{\"study\": \"x/s.yaml\", \"name\": \"pwned\"}");
    if (status != 403 && status)
        fault(a, "answered without the token", "POST", status);
    a->guesses += 2;
}

static void send_garbage(struct web_attack *a)
{
    char bytes[600];
    int fd = connect_to(a);
    size_t n = wr_rng_below(&a->rng, sizeof bytes);

    for (size_t i = 0; i < n; i++)
        bytes[i] = (char)wr_rng_below(&a->rng, 256);
    if (fd >= 0)
        send_text(fd, bytes, n);
    close(fd);
    a->garbage++;
}

/* ---- the good client ---- */

static void be_good(struct web_attack *a)
{
    const char *slash = strrchr(a->dir, '/');
    char report[160];
    int status;

    snprintf(report, sizeof report, "/api/report?run=%s/good.weir&section=jobs", slash + 1);
    const char *const targets[] = {"/api/runs", "/api/progress", report, "/"};
    const char *target = targets[a->good % 4];
    uint64_t from = wr_clock_ns();

    if ((status = ask(a, "GET", target, a->token, "")) != 200)
        fault(a, "a good client was not answered", target, status);
    double took = (double)(wr_clock_ns() - from) / 1e9;
    a->slowest_s = took > a->slowest_s ? took : a->slowest_s;
    a->good++;
}

static void attack_for(struct web_attack *a, double seconds)
{
    uint64_t end = wr_clock_ns() + (uint64_t)(seconds * 1e9);

    while (wr_clock_ns() < end && !*a->fault) {
        int status;

        trickle(a);
        be_deaf(a);
        guess(a);
        send_garbage(a);
        be_good(a);
        if (waitpid(a->server, &status, WNOHANG) == a->server) {
            a->server = 0;
            fault(a, "the server ended", "status", status);
        }
        usleep(20000);
    }
}

static void stop_server(struct web_attack *a)
{
    int status = 0;

    if (a->server <= 0)
        return;
    kill(a->server, SIGINT);
    for (int i = 0; i < 300 && waitpid(a->server, &status, WNOHANG) == 0; i++)
        usleep(100000);
    if (kill(a->server, 0) == 0) {
        kill(a->server, SIGKILL);
        fault(a, "Ctrl-C did not end the server", "seconds", 30);
    } else if (!WIFEXITED(status) || WEXITSTATUS(status)) {
        fault(a, "the server ended", "status", status);
    }
}

int main(int argc, char **argv)
{
    struct web_attack a = {.dir = "/tmp/weir-web-XXXXXX"};
    char weir[512], command[128];

    if (argc != 3) {
        fprintf(stderr, "usage: attack-web BUILD_DIR SECONDS\n");
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    snprintf(weir, sizeof weir, "%s/weir", argv[1]);
    a.weir = weir;
    wr_rng_init(&a.rng, 1, 0, 0);
    memset(a.trickler, -1, sizeof a.trickler);
    memset(a.deaf, -1, sizeof a.deaf);
    if (!mkdtemp(a.dir) || !make_runs(&a) || !start_server(&a)) {
        fprintf(stderr, "attack-web: cannot begin: is weir built with libmicrohttpd?\n");
        return 4;
    }
    attack_for(&a, atof(argv[2]));
    stop_server(&a);
    snprintf(command, sizeof command, "rm -rf '%s'", a.dir);
    if (system(command))
        fprintf(stderr, "attack-web: %s is left\n", a.dir);
    printf(
        "web: %llu good requests, the slowest %.2f s; %llu slow connections, %llu of them dropped; "
        "%llu guesses, %llu pieces of garbage; %s\n",
        (unsigned long long)a.good, a.slowest_s, (unsigned long long)a.held,
        (unsigned long long)a.dropped, (unsigned long long)a.guesses, (unsigned long long)a.garbage,
        *a.fault ? a.fault : "nothing given away");
    return *a.fault != '\0';
}
