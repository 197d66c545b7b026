/*
 * dtmalloc.d: the type of kernel memory. On Linux that is the cache it comes from; memory without
 * its own cache has type kmalloc.
 */

typedef struct malloc_type {
	string ks_shortdesc;	/* name */
	uint32_t ks_size;	/* bytes of one object; 0: they differ */
	uintptr_t ks_addr;	/* struct kmem_cache */
} malloc_type_t;

translator malloc_type_t < struct kmem_cache *C > {
	ks_shortdesc = C ? stringof(C->name) : "kmalloc";
	ks_size = C ? C->object_size : 0;
	ks_addr = (uintptr_t)C;
};
