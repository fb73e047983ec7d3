/* file.h -- the one way in which files are read.
 *
 * A reader gets plain text: files compressed with gzip or zstd are recognised by their first
 * bytes, not by their names. A file that cannot be read because the user named the wrong one (it is
 * not there, it is a directory) is the user's input, WR_INPUT; what the system refuses is
 * WR_SYSTEM.
 *
 * Files that were read are inputs, and inputs are never replaced by base/output.h. They are known
 * by device and inode, so that another name or a link does not hide them. What a process has read
 * is a fact about the process, as its open files are: the list is global.
 */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/err.h"

/* The content of a file, followed by a zero byte that is not counted; free() it. A
 * file that holds more than `most` bytes is refused. */
bool wr_file_read(char **ret, size_t *ret_len, const char *path, size_t most, struct wr_err *err);

/* The same as a stream, for callers that need not hold it all. What is compressed comes from a
 * temporary file. */
bool wr_file_open(FILE **ret, const char *path, struct wr_err *err);

/* wr_file_read() of an earlier output, to see what it is: that makes no input of it. */
bool wr_file_peek(char **ret, size_t *ret_len, const char *path, size_t most, struct wr_err *err);

/* The first bytes of the plain text, up to `most`, to see what it is; 0 when there are none. */
size_t wr_file_head(char *head, size_t most, const char *path);

/* Content in place of files: later reads of `path` get `text`, which another process has read, and
 * not what the file system of this one holds. Copies both. For use at set-up, by one thread. */
void wr_file_supply(const char *path, const char *text, size_t len);
void wr_file_supply_end(void); /* forgets all of them */

/* A file that can be looked up, or content in its place. */
bool wr_file_exists(const char *path);

/* What distinguishes files, whatever their names: device and inode. False, with errno: no such
 * file.
 */
struct wr_file_id {
    dev_t dev;
    ino_t ino;
};
bool wr_file_identify(struct wr_file_id *ret, const char *path);

/* From here on what is read is an input, and nothing that was read before. */
void wr_input_begin(void);

/* For readers of files with a way of their own. */
void wr_input_note(const struct stat *st);
bool wr_input_is(const struct stat *st);

#endif
