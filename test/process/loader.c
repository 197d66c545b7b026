/*
 * loader: loads and unloads libraries (plugin.c) while it is traced.
 *
 *   loader TURNS CALLS LIBRARY...       each turn: load each in turn, call run(CALLS), unload it
 *   loader -t TURNS CALLS LIBRARY...    the same in four threads, one library each, at the same time
 *   loader -n TURNS CALLS LIBRARY       two copies at the same time (dlmopen)
 *   loader -w FILE CALLS LIBRARY        load it; again and again run(CALLS), until the file exists; unload it
 * It prints how often run() was called and returned something else than the first time, which is never, and at how many different
 * addresses the libraries were.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long turns, calls;
static void *places[4096];
static int nplaces;

static void note(void *at)
{
	int i = 0;

	while (i < nplaces && places[i] != at)
		i++;
	if (i == nplaces && nplaces < 4096)
		places[nplaces++] = at;
}

static long (*load(const char *path, void **handle, int copy))(long)
{
	*handle = copy ? dlmopen(LM_ID_NEWLM, path, RTLD_NOW) : dlopen(path, RTLD_NOW);
	if (!*handle) {
		printf("%s\n", dlerror());
		exit(3);
	}
	return (long (*)(long))dlsym(*handle, "run");
}

static void once(const char *path)
{
	void *handle;
	long (*run)(long) = load(path, &handle, 0);

	note((void *)run);
	run(calls);
	dlclose(handle);
}

static void *thread(void *path)
{
	for (long i = 0; i < turns; i++) {
		void *handle;
		long (*run)(long) = load(path, &handle, 0);

		run(calls);
		dlclose(handle);
	}
	return NULL;
}

static void copies(const char *path)
{
	void *one, *two;
	long (*a)(long) = load(path, &one, 0), (*b)(long) = load(path, &two, 1);

	if (a == b)
		puts("one copy");
	a(calls);
	b(calls);
	dlclose(one);
	b(calls);
	dlclose(two);
}

int main(int argc, char **argv)
{
	char how = argc > 4 && argv[1][0] == '-' ? argv[1][1] : 0;
	char **arg = how ? argv + 2 : argv + 1;
	pthread_t threads[4];
	void *handle;
	long (*run)(long);

	turns = atol(arg[0]);
	calls = atol(arg[1]);
	for (int i = 0; how == 't' && i < 4; i++)
		pthread_create(&threads[i], NULL, thread, arg[2 + i]);
	for (int i = 0; how == 't' && i < 4; i++)
		pthread_join(threads[i], NULL);
	for (long i = 0; how == 'n' && i < turns; i++)
		copies(arg[2]);
	if (how == 'w') {
		run = load(arg[2], &handle, 0);
		puts("loaded"), fflush(stdout);
		while (access(arg[0], F_OK) != 0)
			run(calls);
		dlclose(handle);
	}
	for (long i = 0; !how && i < turns; i++)
		for (char **path = arg + 2; *path; path++)
			once(*path);
	printf("end %d\n", nplaces);
	return 0;
}
