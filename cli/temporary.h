/*
 * temporary.h - a file that does not outlive the program unless it is kept.
 *
 * Invariant: between temporary_make and temporary_forget SIGINT, SIGTERM and SIGHUP remove the file and then end the
 * program as they would have without us; a signal that was ignored before (nohup) stays ignored. At most one file at a
 * time. Not hostile.
 */
#ifndef CLI_TEMPORARY_H
#define CLI_TEMPORARY_H

/* mkstemp(3): makes the file whose name `path` ends in XXXXXX, and fills them in. `path` must stay valid until
 * temporary_forget. Returns a descriptor, or -1 with errno. */
int temporary_make(char *path);

/* The file has another name now, or is gone. */
void temporary_forget(void);

#endif
