/* fault_text.c -- what a failed evaluation means, in words; part of compiled programs too. */
#include "func_math_priv.h"

const char *const nc_fault_text[NCF_NKINDS] = {
    [NCF_DIV_ZERO] = "{x} is divided by zero; test the divisor with IF first",
    [NCF_MOD_ZERO] = "{x} MOD zero is not defined; test the divisor with IF first",
    [NCF_ZERO_POWER] = "{x} ** {y} is not defined; use another exponent",
    [NCF_OVERFLOW] = "the result for {x} and {y} needs more than 64 bits; use smaller numbers",
    [NCF_ROOT] = "root {x} of {y} is not defined; take it of a positive number",
    [NCF_LOG] = "LOG10({x}) is not defined; take it of a positive number",
    [NCF_TREE] = "a tree cannot have {x} children per task; give at least 1",
    [NCF_KNOMIAL] = "a k-nomial tree with k = {x} does not exist; give at least 2",
    [NCF_MESH] = "a mesh cannot be {x} wide in dimension {y}; give positive sizes",
    [NCF_COORDINATE] = "there is no coordinate {x}; give 0, 1 or 2 for x, y or z",
    [NCF_RANDOM] = "no number can be drawn with {x} and {y}; check the order of the arguments",
    [NCF_PATTERN] = "the values from {x} to {y} follow neither an arithmetic nor a geometric "
                    "pattern; list them one by one",
    [NCF_TOO_MANY] = "this range has too many values to go through; make it smaller",
    [NCF_FILE] = "this file cannot be read; check its name",
    [NCF_FILE_CELL] = "the file has no column {x} in row {y}; count from 1, or from the end with "
                      "negative numbers",
    [NCF_NEGATIVE] = "a size of {x} bytes is less than nothing; check the expression",
    [NCF_OFFSET] = "an offset of {x} bytes lies before the file; check the expression",
    [NCF_RESTORE] = "counters are restored more often than they were stored; remove one RESTORES "
                    "or add a STORES",
    [NCF_PROCESSOR] = "there is no processor {x} among {y}; assign to 0 up to num_tasks-1",
    [NCF_PERCENTILE] = "percentile {x} does not exist; give 0 to 100",
};
