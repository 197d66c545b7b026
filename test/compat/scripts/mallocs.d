#!/usr/sbin/dtrace -s
// run: -e -c /bin/true
// needs: root bpf
/*
 * mallocs.d: what the target allocates and does not free.
 */
#pragma D option quiet
#pragma D option ustackframes=6

size_t sizes[uintptr_t];

pid$target::malloc:entry
{
	self->size = arg0;
}

pid$target::malloc:return
/self->size && arg1/
{
	sizes[arg1] = self->size;
	@held = sum((int64_t)self->size);
	@by[ustack()] = sum(self->size);
	@hist = quantize(self->size);
	self->size = 0;
}

pid$target::free:entry
/sizes[arg0]/
{
	@held = sum(-(int64_t)sizes[arg0]);
	sizes[arg0] = 0;
}

END
{
	printa("still held: %@d bytes\n", @held);
	printa(@hist);
	trunc(@by, 3);
	printa("%k%@d\n", @by);
}
