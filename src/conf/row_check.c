/* row_check.c -- checks tables of rows themselves.
 *
 * A wrong row is a mistake in the source, not in a configuration: tests call conf_rows_check() on
 * every table, and its errors have the code WR_BUG. Reads only.
 */
#include <stdlib.h>
#include <string.h>

#include "conf_priv.h"

/* Bytes that the value of a row occupies at its offset. */
static size_t row_check_extent(const struct conf_row *row)
{
    size_t size = conf_type_size(row->type);

    if (row->type != CONF_SECTION)
        return size;
    for (const struct conf_row *r = row->rows; r && r->key; r++)
        if (r->offset + row_check_extent(r) > size)
            size = r->offset + row_check_extent(r);
    return size;
}

/* What is wrong with a row, in words; NULL: nothing. */
static const char *row_check_problem(const struct conf_row *row)
{
    bool list = row->type == CONF_LIST;

    if (!row->key[0] || strpbrk(row->key, ".= \t"))
        return "the key must be a word without dots";
    if (!row->help || !row->help[0])
        return "no help";
    if ((row->type == CONF_CHOICE || (list && !row->rows && row->item == CONF_CHOICE)) &&
        !(row->names && row->names[0]))
        return "a choice without names";
    if ((row->type == CONF_PLUGIN || (list && !row->rows && row->item == CONF_PLUGIN)) &&
        !row->kinds)
        return "a plug-in without kinds";
    if ((row->type == CONF_SECTION || row->type == CONF_TABLE) && !row->rows)
        return "a section or table without rows";
    if (list && !row->rows && !conf_is_scalar(row->item) && row->item != CONF_PLUGIN)
        return "a list of neither sections, plug-ins nor scalars";
    if (list && !row->rows && row->size && row->size != conf_type_size(row->item))
        return "the size of a list's items is not that of their type";
    if ((list && row->rows && !row->size) || (row->type == CONF_TABLE && !row->size))
        return "the size of an item is missing";
    if (row->include && row->type != CONF_SECTION)
        return "only a section can be a file";
    if (row->include && conf_row_find(row->rows, "file"))
        return "a section that can be a file has a key \"file\" of its own";
    if (row->files && (row->type != CONF_PLUGIN || !row->files->key || !row->files->help))
        return "only a plug-in has files, and they have a key and a help text";
    if (row->min > row->max)
        return "min is above max";
    return NULL;
}

static bool row_check_default(const struct conf_row *row, struct wr_err *err)
{
    struct conf_row alone[2] = {*row, CONF_END};
    struct conf *c = NULL;

    alone[0].offset = 0;
    void *scratch = wr_zalloc(1, row_check_extent(row) + 1);
    bool ok = conf_load(&c, scratch, alone, NULL, NULL, 0, err);
    conf_close(c);
    free(scratch);
    return ok;
}

static bool row_check_all(const struct conf_row *rows, size_t struct_size, struct wr_err *err);

static bool row_check_kinds(const struct conf_row *row, struct wr_err *err)
{
    for (const struct conf_kind *const *k = row->kinds; k && *k; k++) {
        if (!(*k)->name || !(*k)->summary)
            return wr_fail(err, WR_BUG, "a kind without name or summary");
        if (conf_kind_find(row, (*k)->name) != *k)
            return wr_fail(err, WR_BUG, "two kinds \"%s\"", (*k)->name);
        if (conf_row_find((*k)->rows, "kind"))
            return wr_fail(err, WR_BUG, "the kind \"%s\" has a key \"kind\"", (*k)->name);
        if (row->files && conf_row_find((*k)->rows, "file"))
            return wr_fail(err, WR_BUG, "the kind \"%s\" has a key \"file\"", (*k)->name);
        if (!row_check_all((*k)->rows, (*k)->params_size, err))
            return wr_wrap(err, "kind %s", (*k)->name);
    }
    return true;
}

static bool row_check_one(const struct conf_row *rows, const struct conf_row *row,
                          size_t struct_size, struct wr_err *err)
{
    const char *wrong = row_check_problem(row);
    bool many = row->type == CONF_TABLE || (row->type == CONF_LIST && row->rows);

    if (wrong)
        return wr_fail(err, WR_BUG, "%s", wrong);
    if (conf_row_find(rows, row->key) != row)
        return wr_fail(err, WR_BUG, "there are two rows of this key");
    if (row->offset + row_check_extent(row) > struct_size)
        return wr_fail(err, WR_BUG, "the value lies outside its struct");
    if (row->def && row->def[0] && !row_check_default(row, err))
        return false;
    return row_check_all(row->rows, many ? row->size : SIZE_MAX, err) && row_check_kinds(row, err);
}

static bool row_check_all(const struct conf_row *rows, size_t struct_size, struct wr_err *err)
{
    for (const struct conf_row *row = rows; row && row->key; row++)
        if (!row_check_one(rows, row, struct_size, err))
            return wr_wrap(err, "row %s", row->key);
    return true;
}

bool conf_rows_check(const struct conf_row *rows, size_t size, struct wr_err *err)
{
    return row_check_all(rows, size, err);
}
