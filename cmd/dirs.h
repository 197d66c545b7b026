/*
 * dirs: finds files that are shipped with the commands: tools, profiles.
 */
#ifndef DTRACE_DIRS_H
#define DTRACE_DIRS_H

/* Directory number *n, which counts up from 0; NULL: no more. The caller frees it. In this order: those that the
 * environment variable names, separated by colons; that of the user, ~/.config/<config>, if config is not NULL;
 * <folder> beside the program (the build directory has a link to that of the tree); ../share/dtrace/<folder>. */
char *next_dir(int *n, const char *variable, const char *config, const char *folder);

#endif
