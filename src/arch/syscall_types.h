/*
 * syscall_types: the type words of the .def files about arguments of system calls, and what they are as D text in
 * 64-bit and in 32-bit programs.
 */
#ifndef DT_ARCH_SYSCALL_TYPES_H
#define DT_ARCH_SYSCALL_TYPES_H

#define DT_SYSCALL_WORDS(WORD)                                                                     \
	WORD(NOARGS, NULL, NULL)                                                                   \
	WORD(INT, "int", "int")                                                                    \
	WORD(UINT, "unsigned int", "unsigned int")                                                 \
	WORD(LONG, "long", "int")                                                                  \
	WORD(ULONG, "unsigned long", "unsigned int")                                               \
	WORD(SIZE, "size_t", "unsigned int")                                                       \
	WORD(OFF, "int64_t", "int")                                                                \
	WORD(U64, "uint64_t", "uint64_t")                                                          \
	WORD(PID, "pid_t", "pid_t")                                                                \
	WORD(ID, "unsigned int", "unsigned int")                                                   \
	WORD(MODE, "unsigned int", "unsigned int")                                                 \
	WORD(STR, "userland const char *", "userland const char *")                                \
	WORD(CHARP, "userland char *", "userland char *")                                          \
	WORD(INTP, "userland int *", "userland int *")                                             \
	WORD(PTR, "userland void *", "userland void *")                                            \
	WORD(STRV, "userland const char **", "userland uint32_t *") /* an array of addresses */

enum dt_syscall_word {
#define WORD(name, in64, in32) name,
	DT_SYSCALL_WORDS(WORD)
#undef WORD
};

#define DT_SYSCALL_ARGS(name, ...) {#name, {__VA_ARGS__}},

#endif
