/*
 * Which of many files may have static probes: files of both classes with and without notes, corrupt ones, and files whose
 * reader dies. A file in which the object reader finds a probe is never left out.
 */
#include <elf.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "elf/elf_remote.h"
#include "jail/jail.h"
#include "unit.h"

struct small {
	Elf64_Ehdr eh;
	Elf64_Shdr sh[4]; /* none, text, note, names */
	char names[48];
	struct {
		Elf64_Nhdr n;
		char owner[8];
		uint32_t at[6]; /* three addresses */
		char text[8];
	} note;
};

struct small_32 {
	Elf32_Ehdr eh;
	Elf32_Shdr sh[3]; /* none, note, names */
	char names[48];
};

static const char names[] = "\0.text\0.note.stapsdt\0.shstrtab";
enum { TEXT = 1, NOTE = 7, STRINGS = 21 };

static struct small a_file(bool probes)
{
	struct small f = {
	    .eh = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		   .e_type = ET_DYN,
		   .e_machine = EM_X86_64,
		   .e_version = EV_CURRENT,
		   .e_shoff = offsetof(struct small, sh),
		   .e_ehsize = sizeof(Elf64_Ehdr),
		   .e_phentsize = sizeof(Elf64_Phdr),
		   .e_shentsize = sizeof(Elf64_Shdr),
		   .e_shnum = 4,
		   .e_shstrndx = 3},
	    .sh = {{0},
		   {.sh_name = TEXT, .sh_type = SHT_PROGBITS},
		   {.sh_name = probes ? NOTE : TEXT,
		    .sh_type = SHT_NOTE,
		    .sh_offset = offsetof(struct small, note),
		    .sh_size = sizeof(f.note),
		    .sh_addralign = 4},
		   {.sh_name = STRINGS, .sh_type = SHT_STRTAB, .sh_offset = offsetof(struct small, names), .sh_size = sizeof(f.names)}},
	    .note = {.n = {8, sizeof(f.note.at) + sizeof(f.note.text), 3}, .owner = "stapsdt", .text = "p\0n"},
	};

	memcpy(f.names, names, sizeof(names));
	return f;
}

static struct small_32 a_file_32(bool probes)
{
	struct small_32 f = {
	    .eh = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS32, ELFDATA2LSB, EV_CURRENT},
		   .e_shoff = offsetof(struct small_32, sh),
		   .e_shentsize = sizeof(Elf32_Shdr),
		   .e_shnum = 3,
		   .e_shstrndx = 2},
	    .sh = {{0},
		   {.sh_name = probes ? NOTE : TEXT, .sh_type = SHT_NOTE},
		   {.sh_name = STRINGS, .sh_type = SHT_STRTAB, .sh_offset = offsetof(struct small_32, names), .sh_size = sizeof(f.names)}},
	};

	memcpy(f.names, names, sizeof(names));
	return f;
}

static int file_of(const void *p, size_t n)
{
	int fd = memfd_create("screen", MFD_CLOEXEC);

	if (fd < 0 || write(fd, p, n) != (ssize_t)n)
		exit(1);
	return fd;
}

static bool may_have(dt_jail *j, const void *p, size_t n)
{
	int fd = file_of(p, n);
	bool may;

	dt_elf_screen(j, &fd, 1, &may);
	close(fd);
	return may;
}

static void test_plain(dt_jail *j)
{
	struct small with = a_file(true), without = a_file(false), odd = a_file(true);
	struct small_32 with_32 = a_file_32(true), without_32 = a_file_32(false);

	CHECK(may_have(j, &with, sizeof(with)));
	CHECK(!may_have(j, &without, sizeof(without)));
	CHECK(may_have(j, &with_32, sizeof(with_32)));
	CHECK(!may_have(j, &without_32, sizeof(without_32)));
	CHECK(!may_have(j, "", 0));
	CHECK(!may_have(j, "#!/bin/sh\n", 10));
	odd.eh.e_shnum = 0; /* the number is elsewhere */
	CHECK(may_have(j, &odd, sizeof(odd)));
	odd.eh.e_shoff = 0;
	odd.eh.e_ident[EI_DATA] = ELFDATA2MSB;
	CHECK(!may_have(j, &odd, sizeof(odd)));
	odd = a_file(false);
	odd.sh[3].sh_size = UINT64_MAX;
	CHECK(may_have(j, &odd, sizeof(odd)));
	odd.sh[3].sh_size = sizeof(odd.names);
	odd.sh[3].sh_offset = UINT64_MAX;
	CHECK(may_have(j, &odd, sizeof(odd)));
}

/* As many as fit one request, each with its own answer; and one more request after it. */
static void test_many(dt_jail *j)
{
	struct small f[] = {a_file(false), a_file(true)};
	bool may[DT_JAIL_FILES];
	int fds[DT_JAIL_FILES];

	for (int i = 0; i < DT_JAIL_FILES; i++)
		fds[i] = file_of(&f[i % 3 == 0], sizeof(f[0]));
	for (int round = 0; round < 2; round++) {
		dt_elf_screen(j, fds, DT_JAIL_FILES, may);
		for (int i = 0; i < DT_JAIL_FILES; i++)
			CHECK(may[i] == (i % 3 == 0));
	}
	for (int i = 0; i < DT_JAIL_FILES; i++)
		close(fds[i]);
}

static bool has_probe(const void *p, size_t n)
{
	dt_error ignored;
	dt_elf *e = dt_elf_open_memory(p, n, &ignored);
	size_t it = 0;
	dt_sdt s;
	bool has = e && dt_sdt_next(e, &it, &s);

	dt_elf_free(e);
	return has;
}

/* Whatever is changed: what the object reader finds is not left out. */
static void test_corrupt(dt_jail *j)
{
	uint32_t found = 0;

	srand(1);
	for (uint32_t i = 0; i < 3000; i++) {
		struct small f = a_file(true);
		size_t n = i % 10 ? sizeof(f) : (size_t)rand() % sizeof(f);
		bool has;

		for (int k = rand() % 3; k >= 0; k--)
			((uint8_t *)&f)[(size_t)rand() % (sizeof(f.eh) + sizeof(f.sh) + sizeof(f.names))] = (uint8_t)(rand() % 3 ? rand() : 0xff);
		has = has_probe(&f, n);
		found += has;
		CHECK(may_have(j, &f, n) || !has);
	}
	CHECK(found > 1000);
}

static void crash(struct dt_question *q, dt_buf *out)
{
	(void)q, (void)out;
	__builtin_trap();
}

/* No file is blamed for a death while many were looked at, and nothing is said. */
static void test_death(dt_jail *j)
{
	struct small f = a_file(true);
	struct dt_question q = {.nfds = 1, .unblamed = true};
	dt_buf answer = {0};
	bool may = false;
	char *problem;
	int fd = file_of(&f, sizeof(f));

	q.fd[0] = fd;
	CHECK(dt_jail_ask(j, "files", crash, &q, &answer, NULL) < 0);
	CHECK(dt_jail_problem(j) == NULL);
	dt_elf_screen(j, &fd, 1, &may);
	CHECK(may);
	q.unblamed = false;
	CHECK(dt_jail_ask(j, "a file", crash, &q, &answer, NULL) < 0);
	problem = dt_jail_problem(j);
	CHECK(problem != NULL);
	free(problem);
	close(fd);
	dt_buf_free(&answer);
}

int main(void)
{
	dt_jail *j = dt_jail_new(NULL, NULL);

	test_plain(j);
	test_many(j);
	test_corrupt(j);
	test_death(j);
	dt_jail_free(j);
	return unit_done();
}
