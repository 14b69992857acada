/* What the loop of restart.c and the two servers (server.c, crates/rt/src/server.rs) ask of each other. */
#pragma once
#include <stdbool.h>

/* The status of a process that is of no more use: the run under way, if any, is made again by another one. */
#define RETIRED 113

int __real_main(int count, char **arguments, char **variables);

/* Runs `main` for request after request. */
int __nm_restart(int count, char **arguments, char **variables);
/* Ends the run under way with this status, and goes on with the next request. Comes back where that cannot be: in a
 * process that runs `main` once, and in a signal handler. */
void __nm_restart_leave(int status) __attribute__((weak));

/* These are the servers': a program without one has none of them. */

/* Whether this process is to run `main` by `__nm_restart`: all that are asked by an engine, so that their stacks lie
 * where those of the others do. */
bool __nm_restart_wanted(void) __attribute__((weak));
/* Whether this process is to run `main` more than once. */
bool __nm_restart_many(void) __attribute__((weak));
/* `main` came back with this status. */
void __nm_restart_ended(int status) __attribute__((weak));
/* Answers the request. */
void __nm_restart_answer(int status) __attribute__((weak));
/* Waits for the next request, and gets ready for it. */
void __nm_restart_wait(void) __attribute__((weak));
