/*
 * faulty_vfs.h - a disk under SQLite that fails, for tests: the n-th write, sync or truncation of any file fails, ends the
 * process, or is the moment of a power cut, at which everything that was not synced is lost.
 *
 * It stands before SQLite's own VFS once it is installed. Nothing is really synced here: a sync only says what a power
 * cut would leave.
 */
#ifndef TESTS_UNIT_FAULTY_VFS_H
#define TESTS_UNIT_FAULTY_VFS_H

#include <stdbool.h>

enum faulty_mode { FAULTY_NONE, FAULTY_ONCE, FAULTY_FOR_EVER, FAULTY_KILL, FAULTY_POWER_CUT };

enum { FAULTY_EXIT = 42 }; /* the exit status of a process that was killed, or lost its power */

struct faulty_plan {
    enum faulty_mode mode;
    int at;       /* which write, sync or truncation, from 1 */
    bool is_full; /* the disk is full; otherwise it does not answer */
};

/* Becomes SQLite's default. */
void faulty_vfs_install(void);
/* Counts from here on. */
void faulty_vfs_arm(const struct faulty_plan *plan);
bool faulty_vfs_fired(void);

#endif
