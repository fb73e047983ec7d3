/* queue.h -- waiting times of queues with one server and Poisson arrivals.
 *
 * `load` is the arrival rate times the mean service time. What is returned is
 * the mean time before service begins, in the unit of `service`; infinite
 * from a load of 1 on, NaN for a negative one.
 */
#ifndef STAT_QUEUE_H
#define STAT_QUEUE_H

double stat_wait_md1(double load, double service); /* constant service */
double stat_wait_mm1(double load, double service); /* exponential service */

/* Any service time, by its squared coefficient of variation: the formula of
 * Pollaczek and Khinchine, of which the two above are the cases 0 and 1. */
double stat_wait_mg1(double load, double service, double scv);

#endif
