/*
 * needed: which libraries a program that has not begun to run will have.
 */
#ifndef DT_PROC_NEEDED_H
#define DT_PROC_NEEDED_H

#include "elf/elf.h"

/* Calls file() for the executable of the process, its program interpreter and all libraries that
 * they name, with the path by which we can open each, once. A guess, and meant for reading ahead:
 * where the dynamic linker would find another file than we do, nothing is wrong but a little work.
 */
void dt_needed(long pid, void (*file)(void *arg, const char *path), void *arg);

#endif
