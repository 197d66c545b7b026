/*
 * elf_debug: debug data that was separated from an object when it was stripped.
 *
 * A separate debug file is found by build id (/usr/lib/debug/.build-id/xx/yyyy.debug) or by the
 * name in .gnu_debuglink (beside the object, in .debug/ there, below /usr/lib/debug), first in the
 * root of the process, then in ours. It must have the same build id, or without one the checksum of
 * the link.
 *
 * MiniDebugInfo (.gnu_debugdata) is a small ELF file, compressed with xz inside the object: the
 * symbol table alone.
 */
#include <fcntl.h>
#include <lzma.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elf/elf_remote.h"

/* ---- separate debug files ---- */

static bool same_build_id(const dt_elf *a, const dt_elf *b)
{
	return a->build_id_len && a->build_id_len == b->build_id_len &&
	       memcmp(a->build_id, b->build_id, a->build_id_len) == 0;
}

static bool has_checksum(const dt_elf *e, uint32_t want)
{
	struct stat st;
	size_t size = 65536, at = 0;
	uint8_t *buf;
	uint32_t crc = 0;
	ssize_t n;

	/* A file with holes was not written by a linker, and reading it can take hours. */
	if (fstat(e->fd, &st) < 0 || (uint64_t)st.st_size > DT_MAX_ELF_CHECKSUM ||
	    ((uint64_t)st.st_size > DT_MAX_ELF_HOLE &&
	     dt_file_has_hole(e->fd, 0, (uint64_t)st.st_size)))
		return false;
	buf = dt_xmalloc(size);
	while (at < (uint64_t)st.st_size && !dt_stopped(e->stop) &&
	       (n = pread(e->fd, buf, size, (off_t)at)) > 0) {
		crc = lzma_crc32(buf, (size_t)n, crc);
		at += (size_t)n;
	}
	free(buf);
	return crc == want;
}

/* Try one path. crc NULL: a build id is required. Takes the path. */
static bool try(dt_elf *e, char *path, const uint32_t *crc)
{
	struct dt_elf_place place = {
	    .path = path, .stop = e->stop, .jail = e->remote ? e->remote->jail : NULL};
	dt_error err;
	dt_elf *d = NULL;
	int fd = dt_open_regular(AT_FDCWD, path, 0, DT_MAX_ELF_FILE, &err);

	if (fd >= 0)
		d = dt_elf_open_fd(fd, &place, &err);
	free(path);
	if (!d)
		return false;
	if (e->build_id_len && d->build_id_len ? same_build_id(e, d)
					       : crc && has_checksum(d, *crc)) {
		d->debug_searched = true; /* it has no debug file of its own */
		e->debug = d;
		return true;
	}
	dt_elf_free(d);
	return false;
}

static bool by_build_id(dt_elf *e, const char *root, const char *dir)
{
	dt_buf b = {0};

	if (e->build_id_len < 2)
		return false;
	dt_buf_printf(&b, "%s%s/.build-id/%02x/", root, dir, e->build_id[0]);
	for (uint32_t i = 1; i < e->build_id_len; i++)
		dt_buf_printf(&b, "%02x", e->build_id[i]);
	dt_buf_puts(&b, ".debug");
	return try(e, b.s, NULL);
}

/* .gnu_debuglink: a name, padding to 4 bytes, a CRC-32 of the debug file. */
static bool read_link(dt_elf *e, const char **name, uint32_t *crc)
{
	struct dt_elf_section s;
	size_t at;

	if (!dt_elf_section(e, ".gnu_debuglink", &s) || !s.data)
		return false;
	*name = s.data;
	at = strnlen(*name, s.data_size) + 1;
	at = dt_align_up(at, 4);
	if (at + 4 > s.data_size || **name == 0 || strchr(*name, '/'))
		return false;
	memcpy(crc, (const char *)s.data + at, 4);
	return true;
}

static bool by_link(dt_elf *e, const char *root, const char *dir)
{
	const char *name, *slash = e->path ? strrchr(e->path, '/') : NULL;
	int len = slash ? (int)(slash - e->path) : 0;
	uint32_t crc;

	if (!read_link(e, &name, &crc))
		return false;
	return try(e, dt_xasprintf("%s%.*s/%s", root, len, e->path ? e->path : "", name), &crc) ||
	       try(e, dt_xasprintf("%s%.*s/.debug/%s", root, len, e->path ? e->path : "", name),
		   &crc) ||
	       try(e, dt_xasprintf("%s%s%.*s/%s", root, dir, len, e->path ? e->path : "", name),
		   &crc);
}

dt_elf *dt_elf_debug(dt_elf *e)
{
	const char *dir = e->debug_dir ? e->debug_dir : "/usr/lib/debug";
	const char *root = e->root ? e->root : "";

	if (e->debug_searched)
		return e->debug;
	e->debug_searched = true;
	if (e->fd < 0)
		return NULL;
	if (by_build_id(e, root, dir) || by_link(e, root, dir) || !*root)
		return e->debug;
	if (!by_build_id(e, "", dir))
		by_link(e, "", dir);
	return e->debug;
}

dt_elf *dt_elf_open_pair(int fd, int debug, dt_error *err)
{
	dt_elf *e = dt_elf_open_fd(fd, NULL, err);

	if (e) {
		e->debug = debug >= 0 ? dt_elf_open_fd(debug, NULL, err) : NULL;
		e->debug_searched = true;
		if (e->debug)
			e->debug->debug_searched = true;
	} else if (debug >= 0) {
		close(debug);
	}
	return e;
}

/* From the section's header alone: it may be large. */
static bool has_dwarf(dt_elf *e)
{
	GElf_Shdr sh;

	return dt_elf_has_section(e, ".debug_info", &sh) && sh.sh_type != SHT_NOBITS && sh.sh_size;
}

dt_elf *dt_elf_dwarf(dt_elf *e)
{
	dt_elf *d;

	if (has_dwarf(e))
		return e;
	d = dt_elf_debug(e);
	return d && has_dwarf(d) ? d : NULL;
}

/* ---- MiniDebugInfo ---- */

/* Decompress; NULL when it is not an xz stream or too large. To be freed. */
static uint8_t *unxz(const uint8_t *data, size_t n, size_t *size)
{
	size_t cap = n * 4 + 4096;
	uint8_t *out = NULL;

	for (; cap <= DT_MAX_MINIDEBUG; cap *= 2) {
		uint64_t limit = DT_MAX_MINIDEBUG;
		size_t in_at = 0, out_at = 0;
		lzma_ret rc;

		out = dt_xrealloc(out, cap);
		rc = lzma_stream_buffer_decode(&limit, 0, NULL, data, &in_at, n, out, &out_at, cap);
		if (rc == LZMA_OK) {
			*size = out_at;
			return out;
		}
		if (rc != LZMA_BUF_ERROR)
			break;
	}
	free(out);
	return NULL;
}

/* libelf makes an entry for each section that the header claims. */
static bool is_small(const uint8_t *bytes, size_t size)
{
	dt_elf inside = {.fd = -1, .memory = (char *)bytes, .memory_size = size};

	return dt_elf_check_header(&inside, NULL) == 0;
}

void dt_elf_add_minidebug(dt_elf *to, Elf *elf)
{
	GElf_Shdr sh;
	Elf_Scn *scn = dt_elf_find_section(to, elf, ".gnu_debugdata", &sh);
	Elf_Data *d = scn ? dt_elf_section_data(to, scn, &sh) : NULL;
	size_t size;
	uint8_t *bytes;
	Elf *mini;

	if (!d || !(bytes = unxz(d->d_buf, d->d_size, &size)))
		return;
	if (is_small(bytes, size) && (mini = elf_memory((char *)bytes, size))) {
		dt_elf_add_symbols(to, NULL, mini, SHT_SYMTAB);
		elf_end(mini);
	}
	free(bytes);
}
