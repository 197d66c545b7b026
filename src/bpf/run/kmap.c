/*
 * kmap: creates maps, maps their memory, loads small programs.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bpf/run/kmap.h"
#include "bpf/run/load.h"

static void keep(dt_bpf *e, int fd)
{
	*dt_vec_add(&e->fds, NULL) = fd;
}

int dt_kmap_try(dt_bpf *e, const struct dt_kmap *m)
{
	LIBBPF_OPTS(bpf_map_create_opts, o, .map_flags = m->flags,
		    .inner_map_fd = (uint32_t)m->inner);
	uint64_t most = m->type == BPF_MAP_TYPE_RINGBUF ? UINT32_MAX : UINT32_MAX / 2;
	int fd;

	if (m->value > UINT32_MAX / 2 || m->entries > most) {
		errno = E2BIG;
		return -1;
	}
	if (m->btf) {
		o.btf_fd = (uint32_t)m->btf->fd;
		o.btf_key_type_id = m->btf->key;
		o.btf_value_type_id = m->btf->value;
	}
	fd = bpf_map_create(m->type, m->name, m->key, (uint32_t)m->value, (uint32_t)m->entries, &o);
	if (fd >= 0)
		keep(e, fd);
	return fd;
}

int dt_kmap_make(dt_bpf *e, const struct dt_kmap *m, dt_error *err)
{
	int fd = dt_kmap_try(e, m);

	return fd < 0 ? dt_load_error(err, m->doing ? m->doing : "create a map in") : fd;
}

void *dt_kmap_memory(int fd, uint64_t size, uint32_t page, bool writable, dt_error *err)
{
	void *p = mmap(NULL, dt_align_up(size, dt_page_size()), PROT_READ | (writable ? PROT_WRITE : 0),
		       MAP_SHARED, fd, (off_t)(page * dt_page_size()));

	if (p != MAP_FAILED)
		return p;
	dt_err(err, errno, "cannot map kernel memory: %s", dt_strerror(errno));
	return NULL;
}

void dt_kmap_unmap(void *p, uint64_t size)
{
	if (p)
		munmap(p, dt_align_up(size, dt_page_size()));
}

int dt_kmap_fill_error(dt_error *err)
{
	return dt_err(err, errno, "cannot fill a map: %s", dt_strerror(errno));
}

/* ---- small programs ---- */

/* The kernel needs the types of functions only if there is more than one. */
static int load(const struct dt_small_program *p, const dt_code *c, uint32_t slot_size)
{
	LIBBPF_OPTS(bpf_prog_load_opts, o, .expected_attach_type = p->attach_type,
		    .prog_flags = p->sleeps ? BPF_F_SLEEPABLE : 0);
	struct bpf_func_info *info = NULL;
	int btf = -1, fd = -1, error;

	if (c->funcs.n > 1) {
		info = dt_xcalloc(c->funcs.n, sizeof(*info));
		btf = dt_code_btf(c, slot_size, info);
		o.func_info_rec_size = sizeof(*info);
		o.func_info_cnt = c->funcs.n;
		o.func_info = info;
		o.prog_btf_fd = (uint32_t)(btf < 0 ? 0 : btf);
	}
	if (c->funcs.n == 1 || btf >= 0)
		fd = bpf_prog_load(p->type, p->name, "Dual BSD/GPL", c->insns.v, c->insns.n, &o);
	error = errno;
	if (btf >= 0)
		close(btf);
	free(info);
	errno = error;
	return fd;
}

int dt_small_load(dt_bpf *e, const struct dt_small_program *p, int (*code)(dt_tr *t), dt_error *err)
{
	struct dt_tr_input in = dt_bpf_input(e);
	dt_code c = {0};
	int fd = -1;
	dt_tr t;

	dt_tr_init(&t, &in, &c, err);
	if (code(&t) == 0) {
		if (dt_code_finish(&c) < 0)
			dt_err(err, EDT_DIFINVAL, "%s", c.problem);
		else if ((fd = load(p, &c, e->at.slot_size)) < 0)
			dt_load_error(err, p->doing ? p->doing : "load a program into");
	}
	dt_vec_free(&t.sub.fns);
	dt_code_free(&c);
	if (fd >= 0)
		keep(e, fd);
	return fd;
}
