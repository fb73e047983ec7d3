/* queue.c -- Pollaczek and Khinchine's mean waiting time. Pure functions, see queue.h. */
#include "stat/queue.h"

#include <math.h>

double stat_wait_mg1(double load, double service, double scv)
{
    if (!(load >= 0))
        return NAN;
    return load < 1 ? load * service * (1 + scv) / (2 * (1 - load)) : INFINITY;
}

double stat_wait_md1(double load, double service)
{
    return stat_wait_mg1(load, service, 0);
}

double stat_wait_mm1(double load, double service)
{
    return stat_wait_mg1(load, service, 1);
}
