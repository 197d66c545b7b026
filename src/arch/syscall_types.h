/*
 * syscall_types: the type words of the .def files about arguments of system calls, as D text. Those that depend on
 * the size of a pointer are defined for 64-bit programs, or for 32-bit ones if DT_SYSCALL_TYPES_32 is defined. May be
 * included again with the other choice.
 */
#undef LONG
#undef ULONG
#undef SIZE
#undef OFF
#undef STRV
#ifdef DT_SYSCALL_TYPES_32
#define LONG  "int"
#define ULONG "unsigned int"
#define SIZE  "unsigned int"
#define OFF   "int"
#define STRV  "userland uint32_t *" /* an array of 32-bit addresses */
#else
#define LONG  "long"
#define ULONG "unsigned long"
#define SIZE  "size_t"
#define OFF   "int64_t"
#define STRV  "userland const char **"
#endif

#ifndef DT_SYSCALL_ARGS
#define DT_SYSCALL_ARGS(name, ...) {#name, {__VA_ARGS__}},
#define INT    "int"
#define UINT   "unsigned int"
#define U64    "uint64_t"
#define PID    "pid_t"
#define ID     "unsigned int"
#define MODE   "unsigned int"
#define STR    "userland const char *"
#define CHARP  "userland char *"
#define INTP   "userland int *"
#define PTR    "userland void *"
#define NOARGS NULL
#endif
