/* account.h -- the counters of a partition as bytes, for partitions that another process executes.
 *
 *   process 1, where it was run            process 0, where it was not
 *   net_pack_accounts(net[i], out)  -->    net_take_accounts(net[i], in)
 *
 * Then the functions of the first net return the counts and links of all partitions, as if all had
 * been executed here. Called while no partition runs, with all clocks at one time; any number of
 * times.
 */
#ifndef NET_ACCOUNT_H
#define NET_ACCOUNT_H

#include "base/bytes.h"
#include "net/net.h"

void net_pack_accounts(const struct net *n, struct wr_bytes *out);
void net_take_accounts(struct net *n, struct wr_reader *in); /* in->bad: they are of another net */

#endif
