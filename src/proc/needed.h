/*
 * needed: the libraries that a program will or may load, before it starts.
 */
#ifndef DT_PROC_NEEDED_H
#define DT_PROC_NEEDED_H

#include "elf/elf.h"

/* Calls file() for the executable of the process, its program interpreter and all libraries that
 * they name, with the path by which we can open each, once. This is a guess for reading ahead: if
 * the dynamic linker finds another file, only a little work is wasted.
 */
void dt_needed(long pid, dt_jail *jail, void (*file)(void *arg, const char *path), void *arg);
/* Calls file() for the libraries of this name or pattern (dt_object_is_called) in the directories where the dynamic linker
 * searches, whether a process maps them or not; without symbolic links, so that one file may be given twice. */
void dt_installed_libraries(const char *name, void (*file)(void *arg, const char *path), void *arg);

#endif
