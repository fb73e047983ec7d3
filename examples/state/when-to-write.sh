#!/bin/sh
# Why: is it worth waiting until the storage path is idle? Measures the path for a while with probes
# of two sizes, fits its states, and tries the policy on a simulated path before the application
# changes.
#
#   sh when-to-write.sh /scratch/me [HOW_LONG [INTERVAL]]
set -e
target=${1:?give a directory on the path that is to be probed} length=${2:-1h} interval=${3:-10s}

# Two sizes in one table: their medians say which part of a latency does not depend on the size.
weir state probe "$target" --bytes 4KiB --for "$length" --interval "$interval" -o probes.csv
weir state probe "$target" --bytes 1MiB --for "$length" --interval "$interval" -o probes.csv --append
weir state fit probes.csv --op write --bytes 1MiB --states 1-3 -o path.json

# 2 GiB once an hour: at once, when the library says so, and at the best moment of each hour.
weir state policy path.json --size 2GiB --period 1h

# The same path as a storage device of a simulated machine: storage: {device: path.yaml}
printf 'title: the path to %s\ndevice: {kind: state, model: path.json}\n' "$target" > path.yaml
weir dev path.yaml
