/* Why: an application that may choose when to write its checkpoints asks libweir-state.
 *
 *   cc write-when-idle.c $(pkg-config --cflags --libs weir-state) -o write-when-idle
 *   ./write-when-idle probes.csv
 *
 * Replays a table of probes (t_seconds,op,bytes,latency_seconds) as if they came just now, and
 * counts how often a checkpoint of 2000 probes' size would have been written within a tenth
 * of the time, and what it would have cost.
 */
#include <stdio.h>
#include <stdlib.h>
#include <weir-state.h>

int main(int argc, char **argv)
{
    FILE *f = argc > 1 ? fopen(argv[1], "r") : NULL;
    struct weir_state *s = weir_state_create(NULL);
    struct weir_state_policy policy = {.size = sizeof policy, .probes_per_write = 2000};
    char line[256];
    double t, latency, spent = 0, last = 0, mean = 0;
    int n = 0, writes = 0;

    if (!f || !s) {
        fprintf(stderr, "give a table of probes, as `weir state probe` writes it\n");
        return 2;
    }
    while (fgets(line, sizeof line, f)) {
        if (sscanf(line, "%lf,%*[^,],%*[^,],%lf", &t, &latency) != 2)
            continue;
        if (n && weir_state_advise(s, &policy, t, spent, last, NULL) == WEIR_STATE_WRITE) {
            spent += 2000 * latency; /* what it really took */
            last = t;
            writes++;
        }
        if (weir_state_observe(s, t, latency)) {
            fprintf(stderr, "a row that makes no sense: %s", line);
            return 2;
        }
        mean += latency;
        n++;
    }
    fclose(f);
    printf("%d probes, %d writes, %.2f %% of the time in I/O\n", n, writes, 100 * spent / t);
    if (writes)
        printf("a write took %.0f %% of its usual time\n",
               spent / writes / (2000 * mean / n) * 100);
    printf("in 5 minutes above 10 ms with probability %.3f; idle in %.0f s; model trusted %.2f\n",
           weir_state_exceeds(s, 300, 0.010), weir_state_time_to_idle(s), weir_state_health(s));
    weir_state_destroy(s);
    return n == 0;
}
