/*
 * dirs: see dirs.h.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dirs.h"

static char *of_user(const char *config)
{
	const char *xdg = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	char *dir = NULL;

	if (xdg && *xdg == '/')
		return asprintf(&dir, "%s/%s", xdg, config) < 0 ? NULL : dir;
	if (!home || *home != '/')
		return strdup("/nonexistent");
	return asprintf(&dir, "%s/.config/%s", home, config) < 0 ? NULL : dir;
}

char *next_dir(int *n, const char *variable, const char *config, const char *folder)
{
	static const char *const beside[] = {"", "../share/dtrace/"};
	const char *env = getenv(variable);
	char self[PATH_MAX], *slash, *dir = NULL;
	ssize_t len;
	int i = (*n)++;

	for (; env && *env; env += strcspn(env, ":"), env += *env == ':')
		if (i-- == 0)
			return strndup(env, strcspn(env, ":"));
	if (config && i-- == 0)
		return of_user(config);
	if (i < 0 || i >= (int)(sizeof(beside) / sizeof(beside[0])))
		return NULL;
	len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	self[len < 0 ? 0 : len] = 0;
	slash = strrchr(self, '/');
	if (!slash || asprintf(&dir, "%.*s/%s%s", (int)(slash - self), self, beside[i], folder) < 0)
		return NULL;
	return dir;
}
