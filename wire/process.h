/*
 * process.h - another process, held so that its id cannot come to mean another one.
 *
 * Invariant: what process_open returned stands for one process for ever, whether it lives or not. To know that it is
 * the process of a connection, open it while the connection lives, and hear the other end speak afterwards. Hostile:
 * the process's name, which it chose.
 */
#ifndef WIRE_PROCESS_H
#define WIRE_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

/* A descriptor of the process, or -1 with errno (ESRCH: it is gone; ENOSYS, EPERM: this system has no such thing). */
int process_open(pid_t pid);

/* Sends it a signal. 0, or -1 with errno (ESRCH when it is gone). */
int process_signal(int process, int number);

/* Waits at most `timeout_ms` (0: looks) until it has ended. */
bool process_has_ended(int process, int timeout_ms);

/* Whether the program it runs is called `name` (at most 15 bytes): by its file when the kernel lets us see that, else by
 * the name that the kernel keeps of it. A program that was replaced on the disk since keeps its name. */
bool process_is_called(pid_t pid, const char *name);

#endif
