/*
 * hostile: makes ELF files that are expensive to read, runs code in them, and measures the reader.
 *
 *   hostile make KIND FILE [TEXT]   write a file: a page of headers, a page of code, and by kind
 *        plain TEXT        a function of this name
 *        buildid TEXT      the same; and all of these have one build id
 *        strtab, symtab, eh_frame, shstrtab    a section of 3 GB that is not on the disk
 *        sections          a claim of 200 million sections
 *        aliases           400,000 names of one function, tails of a long one
 *        debuglink TEXT    a link to a debug file of this name
 *        notes N           N static probes, of different names
 *   hostile run FILE [SECONDS]      call getppid() from within the code of FILE, again and again
 *   hostile jit                     the same from memory without a file; prints its address
 *   hostile perfmap ADDRESS         print a perf map of 200 MB
 *   hostile map DIR SECONDS         map a file under new names repeatedly, as code
 *   hostile maps FILE...            map them as code, and wait
 *   hostile peak FILE COMMAND...    run it; write its peak memory, in MB, into FILE
 *
 * HOSTILE_NAME in the environment: the name of the process.
 *
 * The code of a file (at 0x1000) is a function that calls the one it is given; "code" below. lib.bash knows where that call returns to.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CODE  0x1000
#define DATA  0x2000 /* sections */
#define HUGE_ ((uint64_t)3 << 30)

#ifdef __x86_64__ /* push %rbp; mov %rsp,%rbp; call *%rdi; pop %rbp; ret */
#define MACHINE EM_X86_64
static const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};
#else /* stp x29, x30, [sp, -16]!; mov x29, sp; blr x0; ldp x29, x30, [sp], 16; ret */
#define MACHINE EM_AARCH64
static const uint32_t code[] = {0xa9bf7bfd, 0x910003fd, 0xd63f0000, 0xa8c17bfd, 0xd65f03c0};
#endif

enum { NONE, SYMTAB, STRTAB, EHFRAME, LINK, NOTES, NAMES, NSECTIONS };
static struct {
	Elf64_Ehdr eh;
	Elf64_Phdr ph[1];
	Elf64_Shdr sh[NSECTIONS];
} head;
static const char section_names[] = "\0.symtab\0.strtab\0.eh_frame\0.gnu_debuglink\0.note.stapsdt\0.shstrtab";

static int fd;
static uint64_t at = DATA;

static void put(uint64_t offset, const void *p, size_t n)
{
	if (pwrite(fd, p, n, (off_t)offset) != (ssize_t)n) {
		perror("write");
		exit(1);
	}
}

static void section(int i, uint32_t name, uint32_t type, const void *p, size_t n)
{
	head.sh[i] = (Elf64_Shdr){.sh_name = name, .sh_type = type, .sh_offset = at, .sh_size = n, .sh_addralign = 1};
	if (n)
		put(at, p, n);
	at += (n + 15) / 16 * 16;
}

static void huge(int i)
{
	head.sh[i].sh_offset = at;
	head.sh[i].sh_size = HUGE_;
	if (ftruncate(fd, (off_t)(at + HUGE_)) < 0)
		exit(1);
}

/* Symbol i is the tail of one long name from its i-th byte on, and all are names of the code. */
static void aliases(uint32_t n)
{
	Elf64_Sym *s = calloc(n + 1, sizeof(*s));
	char *names = malloc(n + 2);

	names[0] = 0;
	memset(names + 1, 'a', n);
	names[n + 1] = 0;
	for (uint32_t i = 1; i <= n; i++)
		s[i] = (Elf64_Sym){.st_name = i,
				   .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
				   .st_shndx = 1,
				   .st_value = CODE,
				   .st_size = sizeof(code)};
	section(SYMTAB, 1, SHT_SYMTAB, s, (n + 1) * sizeof(*s));
	section(STRTAB, 9, SHT_STRTAB, names, n + 2);
}

static void notes(uint32_t n)
{
	struct __attribute__((packed)) {
		Elf64_Nhdr n;
		char owner[8];
		uint64_t at[3];
		char text[24];
	} *v = calloc(n, sizeof(*v));

	for (uint32_t i = 0; i < n; i++) {
		v[i].n = (Elf64_Nhdr){8, sizeof(v[i].at) + sizeof(v[i].text), 3};
		memcpy(v[i].owner, "stapsdt", 8);
		v[i].at[0] = CODE;
		strcpy(v[i].text, "hostile");
		snprintf(v[i].text + 8, 16, "p%07u", i);
	}
	section(NOTES, 42, SHT_NOTE, v, n * sizeof(*v));
}

/* The same for all of them. */
static void build_id(void)
{
	static const struct {
		Elf64_Nhdr n;
		char owner[4];
		char id[20];
	} note = {{4, 20, 3}, "GNU", "nineteen characters"};

	section(NOTES, 42, SHT_NOTE, &note, sizeof(note));
}

static void function(const char *name)
{
	Elf64_Sym s[2] = {{0}, {.st_name = 1, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), .st_shndx = 1, .st_value = CODE, .st_size = sizeof(code)}};
	size_t n = strlen(name);
	char *names = calloc(n + 2, 1);

	memcpy(names + 1, name, n);
	section(SYMTAB, 1, SHT_SYMTAB, s, sizeof(s));
	section(STRTAB, 9, SHT_STRTAB, names, n + 2);
	free(names);
}

static void debuglink(const char *name)
{
	char link[256] = "";
	uint32_t crc = 0x12345678;
	size_t n = (strlen(name) + 4) / 4 * 4;

	strcpy(link, name);
	memcpy(link + n, &crc, 4);
	section(LINK, 27, SHT_PROGBITS, link, n + 4);
}

static int make(const char *kind, const char *path, const char *text)
{
	fd = open(path, O_CREAT | O_TRUNC | O_RDWR, 0755);
	if (fd < 0)
		return 1;
	head.eh = (Elf64_Ehdr){.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
			       .e_type = ET_DYN, .e_machine = MACHINE, .e_version = EV_CURRENT,
			       .e_phoff = offsetof(__typeof__(head), ph), .e_shoff = offsetof(__typeof__(head), sh),
			       .e_ehsize = sizeof(Elf64_Ehdr), .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 1,
			       .e_shentsize = sizeof(Elf64_Shdr), .e_shnum = NSECTIONS, .e_shstrndx = NAMES};
	head.ph[0] = (Elf64_Phdr){.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = DATA, .p_memsz = DATA, .p_align = 4096};
	for (int i = 1; i < NSECTIONS; i++)
		head.sh[i].sh_type = SHT_PROGBITS;
	section(NAMES, 56, SHT_STRTAB, section_names, sizeof(section_names));
	if (strcmp(kind, "aliases") == 0)
		aliases(400000);
	else if (strcmp(kind, "debuglink") == 0)
		debuglink(text);
	else
		function(strcmp(kind, "notes") == 0 ? "hostile_function" : text);
	if (strcmp(kind, "buildid") == 0)
		build_id();
	if (strcmp(kind, "notes") == 0)
		notes((uint32_t)atol(text));
	head.sh[SYMTAB].sh_link = STRTAB;
	head.sh[SYMTAB].sh_entsize = sizeof(Elf64_Sym);
	if (strcmp(kind, "eh_frame") == 0) {
		head.sh[EHFRAME] = (Elf64_Shdr){.sh_name = 17, .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC};
		huge(EHFRAME);
	} else if (strcmp(kind, "strtab") == 0) {
		huge(STRTAB);
	} else if (strcmp(kind, "symtab") == 0) {
		huge(SYMTAB);
	} else if (strcmp(kind, "shstrtab") == 0) {
		huge(NAMES);
	} else if (strcmp(kind, "sections") == 0) {
		head.eh.e_shnum = 0;
		head.sh[0].sh_size = 200000000;
		if (ftruncate(fd, (off_t)(200000001 * sizeof(Elf64_Shdr))) < 0)
			return 1;
	}
	put(0, &head, sizeof(head));
	put(CODE, code, sizeof(code));
	return 0;
}

static void call_kernel(void)
{
	for (int i = 0; i < 100; i++)
		syscall(SYS_getppid);
	usleep(1000);
}

static void *map(const char *path)
{
	int f = open(path, O_RDONLY);
	char *p = mmap(NULL, DATA, PROT_READ | PROT_EXEC, MAP_PRIVATE, f, 0);

	if (p == MAP_FAILED) {
		perror(path);
		exit(1);
	}
	close(f);
	return p;
}

static void ready(void)
{
	puts("ready");
	fflush(stdout);
}

/* Code in memory without a file, as of a JIT compiler; its address is printed. */
static void *jit_page(void)
{
	char *p = mmap(NULL, DATA, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		exit(1);
	memcpy(p + CODE, code, sizeof(code));
	__builtin___clear_cache(p + CODE, p + DATA);
	printf("%lx\n", (unsigned long)(p + CODE));
	return p;
}

static int run(const char *path, long seconds)
{
	char *page = path ? map(path) : jit_page();
	void (*f)(void (*)(void)) = (void (*)(void (*)(void)))(page + CODE);
	time_t end = time(NULL) + seconds;

	ready();
	while (time(NULL) < end)
		f(call_kernel);
	return 0;
}

/* The longest names that a file can have, a new one each time. */
static int map_many(const char *top, long seconds)
{
	time_t end = time(NULL) + seconds;
	char dir[4096], was[8192], now[8192];

	strcpy(dir, top);
	while (strlen(dir) < 3500) {
		snprintf(was, sizeof(was), "%s/%0240u", dir, 0);
		strcpy(dir, was);
		if (mkdir(dir, 0755) < 0)
			return 1;
	}
	snprintf(was, sizeof(was), "%s/first", dir);
	make("plain", was, "f");
	close(fd);
	ready();
	for (unsigned i = 0; time(NULL) < end; i++) {
		snprintf(now, sizeof(now), "%s/%0240u", dir, i);
		if (rename(was, now) < 0)
			return 1;
		strcpy(was, now);
		munmap(map(now), DATA);
	}
	return 0;
}

/* A perf map of 200 MB; the function that runs is in its first line, and at the end once more. */
static int perfmap(unsigned long long at)
{
	printf("%llx 10 early_name\n", at);
	for (unsigned i = 0; i < 5000000; i++)
		printf("%x 10 a function of no use, number %u\n", 0x10000000 + i * 16, i);
	printf("%llx 10 late_name\n", at);
	return 0;
}

static int peak(const char *file, char **argv)
{
	struct rusage ru;
	FILE *f;
	int status;
	pid_t child = fork();

	if (child == 0) {
		execvp(argv[0], argv);
		_exit(127);
	}
	wait4(child, &status, 0, &ru);
	f = fopen(file, "w");
	if (!f)
		return 1;
	fprintf(f, "%ld\n", ru.ru_maxrss / 1024);
	fclose(f);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
	if (getenv("HOSTILE_NAME"))
		prctl(PR_SET_NAME, getenv("HOSTILE_NAME"));
	if (argc >= 4 && strcmp(argv[1], "make") == 0)
		return make(argv[2], argv[3], argc > 4 ? argv[4] : "hostile_function");
	if (argc >= 3 && strcmp(argv[1], "run") == 0)
		return run(argv[2], argc > 3 ? atol(argv[3]) : 600);
	if (argc == 2 && strcmp(argv[1], "jit") == 0)
		return run(NULL, 600);
	if (argc == 3 && strcmp(argv[1], "perfmap") == 0)
		return perfmap(strtoull(argv[2], NULL, 16));
	if (argc == 4 && strcmp(argv[1], "map") == 0)
		return map_many(argv[2], atol(argv[3]));
	if (argc >= 3 && strcmp(argv[1], "maps") == 0) {
		for (int i = 2; i < argc; i++)
			map(argv[i]);
		ready();
		return (int)sleep(600);
	}
	if (argc >= 4 && strcmp(argv[1], "peak") == 0)
		return peak(argv[2], argv + 3);
	return 2;
}
