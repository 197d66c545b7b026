#!/usr/sbin/dtrace -s
// run: -e -Z
/* Block requests straight from the kernel's structures. */

fbt::submit_bio:entry
{
	this->bio = (struct bio *)arg0;
	this->sector = this->bio->bi_iter.bi_sector;
	this->bytes = this->bio->bi_iter.bi_size;
	@size[execname] = quantize(this->bytes);
	@op[this->bio->bi_opf & 0xff] = count();
	printf("%s sector %llu, %u bytes, priority %d\n", execname, this->sector, this->bytes,
	    this->bio->bi_ioprio);
}
