/*
 * ELF objects and mappings, with objects compiled by the test: symbols of every table, their order
 * and aliases, debug files by build id and by link, MiniDebugInfo, PLT stubs, static and PIE; what
 * is not an ELF file, and one with more of everything than there should be.
 */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "arch/arch.h"
#include "unit.h"
#include "elf/elf.h"
#include "proc/mappings.h"
#include "elf/sdt_notes.h"

#if defined(__aarch64__)
#define PROTECTED "-mbranch-protection=standard"
#else
#define PROTECTED "-fcf-protection=full"
#endif

static char dir[] = "/tmp/test_elf.XXXXXX";

static const char program[] =
    "#include <stdlib.h>\n"
    "#include <unistd.h>\n"
    "int counter = 3; static int hidden[4] = {1};\n"
    "__attribute__((noinline)) static int inner(int n) { return n + hidden[0] + counter; }\n"
    "__attribute__((noinline)) int outer(int n) { return inner(n) * 2 + getpid(); }\n"
    "int __outer(int n) __attribute__((alias(\"outer\")));\n"
    "int _zero_outer(int n) __attribute__((alias(\"outer\")));\n"
    "__asm__(\".globl bare\\nbare: nop\\n nop\\n ret\\n\");\n"
    "__asm__(\".globl wide\\n.type wide, @function\\nwide: .skip 1\\n.type within, @function\\nwithin: "
    ".skip 1\\n\"\n"
    "        \".size within, 1\\n .skip 2\\n ret\\n.size wide, . - wide\\n\");\n"
    "int main(int argc, char **argv) { (void)argv; free(malloc(outer(argc))); return 0; }\n";

/* Run a command in the directory; true when it succeeds. */
static bool run(const char *fmt, ...)
{
	char cmd[1024];
	va_list ap;
	int n = snprintf(cmd, sizeof(cmd), "cd %s && ", dir);

	va_start(ap, fmt);
	vsnprintf(cmd + n, sizeof(cmd) - (size_t)n, fmt, ap);
	va_end(ap);
	return system(cmd) == 0;
}

static void write_file(const char *name, const void *data, size_t n)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0644);
	CHECK(fd >= 0 && write(fd, data, n) == (ssize_t)n);
	close(fd);
}

static dt_elf *open_object(const char *name, const char *debug_dir)
{
	char path[256], debug[256];
	struct dt_elf_place place = {.debug_dir = debug};
	dt_error err = {0};
	dt_elf *e;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	snprintf(debug, sizeof(debug), "%s/%s", dir, debug_dir ? debug_dir : "nowhere");
	e = dt_elf_open(path, &place, &err);
	if (!e)
		printf("%s: %s\n", path, err.text);
	CHECK(e != NULL);
	return e;
}

static bool has(dt_elf *e, const char *name)
{
	return dt_elf_function_named(e, name) != NULL;
}

static void check_name_at(dt_elf *e, uint64_t vaddr, const char *want)
{
	const dt_elfsym *s = dt_elf_function_at(e, vaddr);

	CHECK_STR(s ? s->name : NULL, want);
}

/* Sorted, every alias after its symbol. */
static void check_order(dt_elf *e)
{
	const dt_elfsym *s;
	uint32_t n = dt_elf_functions(e, &s);
	bool ordered = n > 0 && !s[0].alias, grouped = true;

	for (uint32_t i = 1; i < n; i++) {
		ordered = ordered && s[i - 1].vaddr <= s[i].vaddr;
		grouped = grouped && s[i].alias == (s[i - 1].vaddr == s[i].vaddr);
	}
	CHECK(ordered);
	CHECK(grouped);
}

static void test_symbols(dt_elf *e)
{
	const dt_elfsym *s = dt_elf_function_named(e, "outer"), *t;
	char bytes[16];
	uint64_t off, vaddr;

	CHECK(s && !s->alias && s->size > 4 && s->type == STT_FUNC && s->bind == STB_GLOBAL);
	if (!s)
		return;
	check_name_at(e, s->vaddr, "outer");
	check_name_at(e, s->vaddr + s->size - 1, "outer");
	t = dt_elf_function_named(e, "__outer");
	CHECK(t && t->alias && t->vaddr == s->vaddr);
	t = dt_elf_function_named(e, "_zero_outer");
	CHECK(t && t->alias && t->vaddr == s->vaddr);
	t = dt_elf_function_named(e, "inner");
	CHECK(t && !t->alias && t->bind == STB_LOCAL);
	t = dt_elf_function_named(e, "bare");
	CHECK(t && t->unsized && t->size >= 3);
	if (t)
		check_name_at(e, t->vaddr + 2, "bare");
	t = dt_elf_function_named(e, "wide");
	if (t) {
		check_name_at(e, t->vaddr, "wide");
		check_name_at(e, t->vaddr + 1, "within");
		check_name_at(e, t->vaddr + 2, "wide"); /* after the one inside it */
	}
	t = dt_elf_data_named(e, "counter");
	CHECK(t && t->size == 4 && t->type == STT_OBJECT);
	if (t)
		CHECK(dt_elf_data_at(e, t->vaddr + 3) == t && dt_elf_data_at(e, t->vaddr + 4) != t);
	CHECK(!has(e, "counter") && !dt_elf_data_named(e, "outer"));
	CHECK(dt_elf_function_at(e, 0) == NULL && dt_elf_function_at(e, UINT64_MAX) == NULL);

	CHECK(dt_elf_vaddr_to_offset(e, s->vaddr, &off));
	CHECK(dt_elf_offset_to_vaddr(e, off, &vaddr) && vaddr == s->vaddr);
	CHECK(dt_elf_read(e, s->vaddr, bytes, 16) == 16);
	CHECK(!dt_elf_vaddr_to_offset(e, 1, &off) || off == 1);
	CHECK(!dt_elf_vaddr_to_offset(e, UINT64_MAX, &off));
	check_order(e);
}

static void test_program(void)
{
	static const struct {
		const char *flags;
		enum dt_elf_kind kind;
		bool is_static;
	} t[] = {
	    {"-fPIE -pie", DT_ELF_PIE, false},
	    {"-fno-pie -no-pie", DT_ELF_EXEC, false},
	    {"-static", DT_ELF_EXEC, true},
	    {"-static-pie", DT_ELF_PIE, true},
	    {"-fPIE -pie " PROTECTED " -Wl,-z,now", DT_ELF_PIE, false},
	    {"-fPIE -pie -fcf-protection=none -Wl,-z,lazy", DT_ELF_PIE, false},
	};

	for (size_t i = 0; i < DT_NELEM(t); i++) {
		dt_elf *e;
		uint32_t n;

		CHECK(run("gcc -O1 -fno-builtin %s -o prog prog.c -Wl,--build-id", t[i].flags));
		if (!(e = open_object("prog", NULL)))
			continue;
		CHECK(dt_elf_kind(e) == t[i].kind && dt_elf_is_static(e) == t[i].is_static);
		CHECK(dt_elf_is_64(e) && dt_elf_machine(e) == dt_arch_host()->machine);
		CHECK(dt_elf_entry(e) != 0);
		CHECK((dt_elf_interp(e) != NULL) == !t[i].is_static);
		dt_elf_build_id(e, &n);
		CHECK(n == 20);
		test_symbols(e);
		if (!t[i].is_static) {
			const dt_elfsym *s = dt_elf_function_named(e, "malloc@plt");

			CHECK(s && s->plt && s->size >= 8);
			if (s)
				check_name_at(e, s->vaddr + 4, "malloc@plt");
		}
		dt_elf_shrink(e);
		CHECK(has(e, "inner") && dt_elf_fd(e) == -1);
		dt_elf_free(e);
	}
}

static void test_library(void)
{
	const struct dt_elf_segment *segs;
	struct dt_elf_section sec;
	dt_elf *e;

	CHECK(run("gcc -O1 -g -shared -fPIC -Wl,-soname,libprog.so.7 -o libprog.so prog.c"));
	if (!(e = open_object("libprog.so", NULL)))
		return;
	CHECK(dt_elf_kind(e) == DT_ELF_SHARED && !dt_elf_is_static(e));
	CHECK_STR(dt_elf_soname(e), "libprog.so.7");
	CHECK(dt_elf_segments(e, &segs) >= 2);
	CHECK(dt_elf_section(e, ".eh_frame", &sec) && sec.data && sec.vaddr);
	CHECK(dt_elf_section(e, ".bss", &sec) && !sec.data && sec.type == SHT_NOBITS);
	CHECK(!dt_elf_section(e, ".nothing", &sec));
	CHECK(dt_elf_dwarf(e) == e && dt_elf_debug(e) == NULL);
	test_symbols(e);
	CHECK(dt_elf_in_section(e, ".text", dt_elf_function_named(e, "outer")->vaddr));
	CHECK(!dt_elf_in_section(e, ".data", dt_elf_function_named(e, "outer")->vaddr));
	dt_elf_free(e);

	/* Compressed debug sections come back as they were. */
	CHECK(run("objcopy --compress-debug-sections=zlib libprog.so libz.so"));
	if ((e = open_object("libz.so", NULL))) {
		CHECK(dt_elf_section(e, ".debug_info", &sec) && sec.data_size > sec.size);
		dt_elf_free(e);
	}
}

/* Stripped: the dynamic symbols are left, and what a debug file has. */
static void test_debug_files(void)
{
	dt_elf *e;

	CHECK(run("gcc -g -O1 -fPIE -pie -rdynamic -o full prog.c -Wl,--build-id && cp full "
		  "stripped && strip stripped"));
	e = open_object("stripped", NULL);
	CHECK(e && has(e, "outer") && !has(e, "inner") && dt_elf_debug(e) == NULL &&
	      !dt_elf_dwarf(e));
	dt_elf_free(e);

	/* by build id */
	CHECK(run("id=$(readelf -n full | sed -n 's/.*Build ID: //p') && mkdir -p "
		  "debug/.build-id/${id%%${id#??}} && "
		  "objcopy --only-keep-debug full debug/.build-id/${id%%${id#??}}/${id#??}.debug"));
	e = open_object("stripped", "debug");
	CHECK(e && dt_elf_debug(e) && dt_elf_dwarf(e) == dt_elf_debug(e));
	if (e)
		test_symbols(e);
	dt_elf_free(e);

	/* by name, beside the file, without a build id: the checksum counts */
	CHECK(run("gcc -g -O1 -fPIE -pie -o full2 prog.c -Wl,--build-id=none && objcopy "
		  "--only-keep-debug full2 full2.debug && "
		  "cp full2 stripped2 && strip stripped2 && objcopy "
		  "--add-gnu-debuglink=full2.debug stripped2"));
	e = open_object("stripped2", NULL);
	CHECK(e && dt_elf_debug(e) && has(e, "inner"));
	dt_elf_free(e);
	CHECK(run("mkdir -p .debug && mv full2.debug .debug/"));
	e = open_object("stripped2", NULL);
	CHECK(e && dt_elf_debug(e) && has(e, "inner"));
	dt_elf_free(e);
	/* below the debug directory, by the path of the object */
	CHECK(run("mkdir -p dd/%s && mv .debug/full2.debug dd/%s/", dir, dir));
	e = open_object("stripped2", "dd");
	CHECK(e && dt_elf_debug(e) && has(e, "inner"));
	dt_elf_free(e);
	/* another file of that name is not taken */
	CHECK(run("printf x >>dd/%s/full2.debug", dir));
	e = open_object("stripped2", "dd");
	CHECK(e && !dt_elf_debug(e) && !has(e, "inner"));
	dt_elf_free(e);
}

static void test_minidebug(void)
{
	dt_elf *e;

	if (!run("command -v xz >/dev/null"))
		return;
	CHECK(run("gcc -O1 -fPIE -pie -o mini prog.c && objcopy -S --remove-section .comment "
		  "--keep-symbol=inner mini mini.dbg && "
		  "xz -f mini.dbg && strip mini && objcopy --add-section "
		  ".gnu_debugdata=mini.dbg.xz mini"));
	e = open_object("mini", NULL);
	CHECK(e && has(e, "inner"));
	dt_elf_free(e);
	CHECK(run("head -c 200 /dev/urandom >junk && strip mini && objcopy --update-section "
		  ".gnu_debugdata=junk mini"));
	e = open_object("mini", NULL);
	CHECK(e && !has(e, "inner"));
	dt_elf_free(e);
}

/* ---- not ELF ---- */

static void refused(const char *name, const void *data, size_t n)
{
	char path[256];
	dt_error err = {0};
	dt_elf *e;

	write_file(name, data, n);
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	e = dt_elf_open(path, NULL, &err);
	CHECK(!e && err.code && err.text[0] && strstr(err.text, name));
	dt_elf_free(e);
}

static void test_refused(void)
{
	dt_error err = {0};

	refused("empty", "", 0);
	refused("script", "#!/bin/sh\nexit\n", 15);
	refused("short", "\177ELF\2\1\1", 7);
	refused("archive", "!<arch>\n", 8);
	CHECK(!dt_elf_open("/nonexistent/file", NULL, &err) && err.code == ENOENT);
	CHECK(!dt_elf_open("/dev/null", NULL, &err) && err.code == EINVAL);
	CHECK(!dt_elf_open("/tmp", NULL, &err) && err.code);
	CHECK(!dt_elf_open_memory("", 0, &err) && err.code == ENOEXEC);
}

/* Every byte of a small object set to several values: nothing breaks. */
static void test_corrupt(void)
{
	static const uint8_t values[] = {0, 1, 0x7f, 0x80, 0xff};
	char path[256], *bytes;
	struct stat st;
	int fd;

	CHECK(run("gcc -O1 -s -shared -fPIC -nostdlib -Wl,-z,noseparate-code -o tiny.so prog.c "
		  "-Wl,--unresolved-symbols=ignore-all"));
	snprintf(path, sizeof(path), "%s/tiny.so", dir);
	fd = open(path, O_RDONLY);
	CHECK(fd >= 0 && fstat(fd, &st) == 0);
	bytes = malloc((size_t)st.st_size);
	CHECK(read(fd, bytes, (size_t)st.st_size) == st.st_size);
	close(fd);
	for (off_t i = 0; i < st.st_size; i += i < 512 ? 1 : 7) {
		char was = bytes[i];

		for (size_t v = 0; v < DT_NELEM(values); v++) {
			struct dt_elf_section sec;
			const dt_elfsym *syms;
			dt_error err = {0};
			dt_elf *e;

			bytes[i] = (char)values[v];
			e = dt_elf_open_memory(bytes, (size_t)st.st_size, &err);
			if (!e)
				continue;
			dt_elf_functions(e, &syms);
			dt_elf_section(e, ".text", &sec);
			dt_elf_free(e);
		}
		bytes[i] = was;
	}
	for (off_t n = 0; n < st.st_size; n += 13) { /* cut off */
		const dt_elfsym *syms;
		dt_error err = {0};
		dt_elf *e = dt_elf_open_memory(bytes, (size_t)n, &err);

		if (e)
			dt_elf_functions(e, &syms);
		dt_elf_free(e);
	}
	free(bytes);
	CHECK(true);
}

/* ---- names ---- */

static void demangles(const char *name, bool params, const char *want)
{
	char *got = dt_demangle(name, params);

	if (want)
		CHECK_STR(got, want);
	else
		CHECK(got == NULL);
	free(got);
}

/* Function types that contain the one before twice; the second is what a pack is searched for in.
 * Both would take forever, one of them with all of the memory. */
static void test_explosive(void)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char a[1024] = "_Z1f1AFS_S_E", b[1024] = "_Z1fIJEEvDpF";

	for (int i = 0; i < 36; i++)
		sprintf(a + strlen(a), "FS%c_S%c_E", digits[i], digits[i]);
	demangles(a, true, NULL);
	for (int i = 0; i < 36; i++)
		strcat(b, "F");
	strcat(b, "1A");
	for (int i = 0; i < 36; i++)
		sprintf(b + strlen(b), "S%c_E", digits[i]);
	strcat(b, "T_E");
	demangles(b, true, NULL);
}

static void test_demangle(void)
{
	demangles("_ZN3foo3barEi", true, "foo::bar(int)");
	demangles("_ZN3foo3barEi", false, "foo::bar");
	demangles("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", false,
		  "core::fmt::Formatter::pad");
	demangles("_RNvC6_123foo3bar", false, "123foo::bar");
	demangles("main", true, NULL);
	demangles("_Zebra", true, NULL);
	demangles("", true, NULL);
	demangles("_", true, NULL);
	demangles("_ZSt11make_sharedI3FooJRiS1_EESt10shared_ptrIT_EDpOT0_", true,
		  "std::shared_ptr<Foo> std::make_shared<Foo, int&, int&>(int&, int&)");
	test_explosive();
}

/* ---- mappings ---- */

static void test_maps_text(void)
{
	static const char text[] =
	    "555555554000-555555556000 r-xp 00001000 fd:01 394182 /usr/bin/with space (deleted)\n"
	    "nonsense\n"
	    "7f0000000000-7f0000001000 rw-p 00000000 00:00 0 \n"
	    "7f0000002000-7f0000003000 rw-p 00000000 00:00 0 [anon:arena]\n"
	    "7f0000004000-7f0000005000 rw-s 00000000 00:01 12 /memfd:x (deleted)\n"
	    "6000-5000 rw-p 00000000 00:00 0\n"
	    "7ffff7fc1000-7ffff7fc3000 r-xp 00000000 00:00 0 [vdso]\n"
	    "7ffff7fd1000-7ffff7fd3000 r-xp 00000000 08:02 77 /tmp/a\\012b\n"
	    "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]";
	dt_maps *m = dt_maps_parse(text, strlen(text));
	const dt_mapping *x;

	CHECK(m->n == 7);
	x = dt_maps_find(m, 0x555555555fff);
	CHECK(x && x->deleted && x->exec && !x->write && x->offset == 0x1000 && x->inode == 394182);
	CHECK(x && x->kind == DT_MAP_FILE && x->dev_major == 0xfd && x->dev_minor == 1);
	CHECK_STR(x ? x->path : NULL, "/usr/bin/with space");
	CHECK_STR(x ? x->base : NULL, "with space");
	CHECK(dt_maps_find(m, 0x555555556000) == NULL && dt_maps_find(m, 0) == NULL);
	x = dt_maps_find(m, 0x7f0000000000);
	CHECK(x && x->kind == DT_MAP_ANON && x->path[0] == 0);
	x = dt_maps_find(m, 0x7f0000002000);
	CHECK(x && x->kind == DT_MAP_ANON);
	x = dt_maps_find(m, 0x7f0000004000);
	CHECK(x && x->shared && x->deleted);
	x = dt_maps_find(m, 0x7ffff7fc1000);
	CHECK(x && x->kind == DT_MAP_VDSO);
	x = dt_maps_find(m, 0x7ffff7fd1000);
	CHECK_STR(x ? x->path : NULL, "/tmp/a\nb");
	x = dt_maps_find(m, 0xffffffffff600000);
	CHECK(x && x->kind == DT_MAP_VSYSCALL);
	dt_maps_free(m);
	m = dt_maps_parse("", 0);
	CHECK(m->n == 0 && !dt_maps_find(m, 1));
	dt_maps_free(m);
}

/* Our own process: the address of a function leads to its name and back. */
/* The names that probe descriptions have for objects. */
static void test_object_names(void)
{
	CHECK(dt_object_is_called("libc.so.6", "libc.so.6", "/lib/libc.so.6", false));
	CHECK(dt_object_is_called("libc.so", "libc.so.6", "/lib/libc.so.6", false));
	CHECK(dt_object_is_called("libc", "libc.so.6", "/lib/libc.so.6", false));
	CHECK(dt_object_is_called("libc*", "libc.so.6", "/lib/libc.so.6", false));
	CHECK(dt_object_is_called("/lib/*", "libc.so.6", "/lib/libc.so.6", false));
	CHECK(dt_object_is_called("LM0`libc.so.6", "libc.so.6", "/lib/libc.so.6", false));
	CHECK(dt_object_is_called("", "libc.so.6", "/lib/libc.so.6", false));
	CHECK(dt_object_is_called("a.out", "cat", "/bin/cat", true));
	CHECK(!dt_object_is_called("a.out", "cat", "/bin/cat", false));
	CHECK(!dt_object_is_called("libm", "libmount.so.1", "/lib/libmount.so.1", false));
	CHECK(!dt_object_is_called("/usr/lib/libc.so.6", "libc.so.6", "/lib/libc.so.6", false));
}

/* The mappings of code are the same, whether the kernel is asked for them alone or not. */
static void check_code(const dt_maps *all)
{
	dt_error err = {0};
	dt_maps *code = dt_maps_code(getpid(), &err);
	uint32_t k = 0;

	for (uint32_t i = 0; code && i < all->n; i++) {
		const dt_mapping *m = &all->v[i], *c;

		if (m->kind != DT_MAP_FILE || !m->exec)
			continue;
		while (k < code->n && (code->v[k].kind != DT_MAP_FILE || !code->v[k].exec))
			k++;
		c = k < code->n ? &code->v[k++] : NULL;
		CHECK(c && c->start == m->start && c->end == m->end && c->offset == m->offset && c->inode == m->inode);
		CHECK(c && c->dev_major == m->dev_major && c->dev_minor == m->dev_minor && c->read == m->read);
		CHECK(c && c->write == m->write && c->shared == m->shared && c->deleted == m->deleted);
		CHECK_STR(c ? c->path : NULL, m->path);
		CHECK_STR(c ? c->base : NULL, m->base);
	}
	CHECK(k > 1);
	dt_maps_free(code);
}

static void test_maps_self(void)
{
	dt_error err = {0};
	dt_maps *m = dt_maps_read(getpid(), &err);
	const dt_mapping *x;
	const dt_elfsym *s;
	uint64_t addr = (uint64_t)(uintptr_t)&test_maps_self, bias;
	dt_elf *e;
	char *path;

	CHECK(m && m->n > 5);
	if (!m)
		return;
	x = dt_maps_find(m, addr);
	CHECK(x && x->exec && x->kind == DT_MAP_FILE);
	CHECK(x && dt_maps_exe(m, getpid()) &&
	      strcmp(dt_maps_exe(m, getpid())->path, x->path) == 0);
	e = dt_elf_open_fd(dt_mapping_open(getpid(), x), NULL, &err);
	CHECK(e && dt_elf_bias(e, x->start, x->offset, &bias));
	s = e ? dt_elf_function_at(e, addr - bias) : NULL;
	CHECK_STR(s ? s->name : NULL, "test_maps_self");
	CHECK(s && s->vaddr + bias == addr);
	dt_elf_free(e);
	path = dt_proc_path(getpid(), x->path);
	CHECK_STR(path, x->path);
	free(path);
	CHECK(dt_proc_inner_pid(getpid()) > 0);
	check_code(m);
	dt_maps_free(m);
	CHECK(!dt_maps_read(0x7ffffff0, &err) && err.code == ESRCH);
	CHECK(!dt_maps_code(0x7ffffff0, &err) && err.code == ESRCH);
}

static void test_vdso(void)
{
	uint64_t base = getauxval(AT_SYSINFO_EHDR);
	dt_error err = {0};
	dt_maps *m = dt_maps_read(getpid(), &err);
	const dt_mapping *x = m && base ? dt_maps_find(m, base) : NULL;
	dt_elf *e;

	if (!x)
		return;
	e = dt_elf_open_memory((const void *)(uintptr_t)base, x->end - x->start, &err);
	CHECK(e && (has(e, "clock_gettime") || has(e, "__kernel_clock_gettime")));
	dt_elf_free(e);
	dt_maps_free(m);
}

/* ---- more of everything than any linker makes: it takes longer, but not quadratically ---- */

#define MANY_SEGMENTS 60000u
#define MANY_SECTIONS 60000u
#define MANY_SYMBOLS  400000u
#define MANY_NOTES    100000u

struct many {
	Elf64_Ehdr eh;
	Elf64_Phdr ph[MANY_SEGMENTS];
	Elf64_Shdr sh[MANY_SECTIONS];
	Elf64_Sym sym[MANY_SYMBOLS];
	struct {
		Elf64_Nhdr n;
		char owner[8];
		uint32_t at[6]; /* three addresses */
		char text[8]; /* provider, name, arguments */
	} note[MANY_NOTES];
	char names[64];
};

static void name_section(struct many *m, uint32_t i, uint32_t type, const char *name, const void *data, size_t n)
{
	size_t at = strlen(m->names + 1) + 1;

	while (m->names[at - 1] || m->names[at])
		at++;
	strcpy(m->names + at, name);
	m->sh[i] = (Elf64_Shdr){.sh_name = (uint32_t)at,
				.sh_type = type,
				.sh_offset = (uint64_t)((const char *)data - (const char *)m),
				.sh_size = n,
				.sh_link = i + 1,
				.sh_entsize = type == SHT_SYMTAB ? sizeof(Elf64_Sym) : 0};
}

/* Once it is stopped, it reads only a few more symbols. */
static void test_stop(const struct many *m)
{
	char path[256];
	dt_stop stop = 1;
	struct dt_elf_place place = {.stop = &stop};
	const dt_elfsym *syms;
	dt_error err;
	dt_elf *e;

	write_file("many.so", m, sizeof(*m));
	snprintf(path, sizeof(path), "%s/many.so", dir);
	e = dt_elf_open(path, &place, &err);
	CHECK(e != NULL);
	if (e)
		CHECK(dt_elf_functions(e, &syms) < 4096);
	dt_elf_free(e);
	unlink(path);
}

static void test_many(void)
{
	struct many *m = dt_xcalloc(1, sizeof(*m));
	uint32_t last = MANY_SECTIONS - 1, n = 0;
	const dt_elfsym *syms;
	clock_t start;
	size_t it = 0;
	dt_error err;
	dt_elf *e;
	dt_sdt s;

	m->eh = (Elf64_Ehdr){.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
			     .e_type = ET_DYN,
			     .e_machine = EM_X86_64,
			     .e_version = EV_CURRENT,
			     .e_phoff = offsetof(struct many, ph),
			     .e_shoff = offsetof(struct many, sh),
			     .e_ehsize = sizeof(Elf64_Ehdr),
			     .e_phentsize = sizeof(Elf64_Phdr),
			     .e_phnum = MANY_SEGMENTS,
			     .e_shentsize = sizeof(Elf64_Shdr),
			     .e_shnum = MANY_SECTIONS,
			     .e_shstrndx = (uint16_t)last};
	for (uint32_t i = 0; i < MANY_SEGMENTS; i++)
		m->ph[i] = (Elf64_Phdr){
		    .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = (i + 1) * 4096ul, .p_filesz = 4096, .p_memsz = 4096};
	for (uint32_t i = 1; i < last; i++)
		m->sh[i] = (Elf64_Shdr){.sh_type = SHT_PROGBITS};
	for (uint32_t i = 1; i < MANY_SYMBOLS; i++)
		m->sym[i] = (Elf64_Sym){.st_name = 1,
					.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
					.st_shndx = 1,
					.st_value = 200 * 4096ul + i % 4096, /* segments beyond the limit are left out */
					.st_size = 1};
	for (uint32_t i = 0; i < MANY_NOTES; i++) {
		m->note[i].n = (Elf64_Nhdr){8, sizeof(m->note[i].at) + sizeof(m->note[i].text), 3};
		memcpy(m->note[i].owner, "stapsdt", 8);
		memcpy(m->note[i].text, "p\0n", 3);
	}
	strcpy(m->names + 1, "f");
	name_section(m, last - 2, SHT_NOTE, ".note.stapsdt", m->note, sizeof(m->note));
	name_section(m, last - 1, SHT_SYMTAB, ".symtab", m->sym, sizeof(m->sym));
	name_section(m, last, SHT_STRTAB, ".strtab", m->names, sizeof(m->names));
	start = clock();
	e = dt_elf_open_memory(m, sizeof(*m), &err);
	CHECK(e != NULL);
	if (e) {
		CHECK(dt_elf_functions(e, &syms) == 4096);
		while (dt_sdt_next(e, &it, &s))
			n++;
		CHECK(n == MANY_NOTES);
	}
	CHECK(clock() - start < 5 * CLOCKS_PER_SEC);
	dt_elf_free(e);
	test_stop(m);
	free(m);
}

int main(void)
{
	if (!mkdtemp(dir))
		return 1;
	test_refused();
	test_demangle();
	test_maps_text();
	test_object_names();
	test_maps_self();
	test_vdso();
	test_many();
	write_file("prog.c", program, strlen(program));
	if (run("gcc -o x prog.c 2>/dev/null && objcopy x y 2>/dev/null")) {
		test_program();
		test_library();
		test_debug_files();
		test_minidebug();
		test_corrupt();
	}
	run("rm -rf %s", dir);
	return unit_done();
}
