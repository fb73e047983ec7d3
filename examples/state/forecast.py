#!/usr/bin/env python3
"""Why: a script that waits for a quiet moment needs no C.

    forecast.py libweir-state.so probes.csv

Feeds a table of probes to libweir-state through ctypes and prints what it expects next.
"""
import csv
import ctypes
import sys

lib = ctypes.CDLL(sys.argv[1])
lib.weir_state_create.restype = ctypes.c_void_p
lib.weir_state_create.argtypes = [ctypes.c_void_p]
lib.weir_state_destroy.argtypes = [ctypes.c_void_p]
lib.weir_state_observe.argtypes = [ctypes.c_void_p, ctypes.c_double, ctypes.c_double]
for name in ("weir_state_quantile", "weir_state_exceeds"):
    getattr(lib, name).restype = ctypes.c_double
    getattr(lib, name).argtypes = [ctypes.c_void_p, ctypes.c_double, ctypes.c_double]
lib.weir_state_time_to_idle.restype = ctypes.c_double
lib.weir_state_time_to_idle.argtypes = [ctypes.c_void_p]

if lib.weir_state_abi() < 1:
    sys.exit("this libweir-state is too old; install the one that came with this script")
state = lib.weir_state_create(None)
with open(sys.argv[2], newline="") as table:
    for row in csv.DictReader(line for line in table if not line.startswith("#")):
        if lib.weir_state_observe(state, float(row["t_seconds"]), float(row["latency_seconds"])):
            sys.exit("a row that makes no sense: %s" % row)
for horizon in (60, 300, 3600):
    print(
        "in %4d s: median %.2f ms, 90 %% below %.2f ms"
        % (
            horizon,
            1e3 * lib.weir_state_quantile(state, horizon, 0.5),
            1e3 * lib.weir_state_quantile(state, horizon, 0.9),
        )
    )
print("idle in %.0f s" % lib.weir_state_time_to_idle(state))
lib.weir_state_destroy(state)
