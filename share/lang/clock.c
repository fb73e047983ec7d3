/* clock.c -- the clock of a real machine: computation is a busy loop, time is CLOCK_MONOTONIC. */

uint64_t comm_now_ps(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return ((uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec) * 1000u;
}

void comm_compute(int64_t nsecs)
{
    uint64_t begin = comm_now_ps();

    while ((int64_t)((comm_now_ps() - begin) / 1000u) < nsecs)
        ;
}

void comm_sleep(int64_t nsecs)
{
    struct timespec t = {.tv_sec = nsecs / 1000000000, .tv_nsec = nsecs % 1000000000};

    while (nanosleep(&t, &t) && errno == EINTR)
        ;
}
