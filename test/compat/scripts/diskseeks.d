#!/usr/sbin/dtrace -s
// run: -e
// needs: root bpf btf
/*
 * diskseeks.d: are transfers random or one after the other? Distance from the end of the last one, in blocks.
 */
#pragma D option quiet

diskaddr_t next[dev_t];
boolean_t seen[dev_t];

io:::start
/args[0]->b_bcount > 0 && seen[args[0]->b_edev] == B_TRUE/
{
	this->at = (diskaddr_t)args[0]->b_blkno;
	this->far = this->at > next[args[0]->b_edev] ? this->at - next[args[0]->b_edev] : next[args[0]->b_edev] - this->at;
	@far[args[1]->dev_pathname, args[1]->dev_major, args[1]->dev_minor] = quantize(this->far);
	@kind[execname, this->far == 0 ? "follows" : "seeks"] = count();
}

io:::start
/args[0]->b_bcount > 0/
{
	next[args[0]->b_edev] = args[0]->b_blkno + args[0]->b_bcount / 512;
	seen[args[0]->b_edev] = B_TRUE;
	@sizes[args[2]->fi_fs, args[2]->fi_mount] = quantize(args[0]->b_bcount);
	@flags[args[0]->b_flags & B_ASYNC ? "asynchronous" : "waited for", args[0]->b_flags & B_PAGEIO ? "pages" : "buffer"] = count();
}

END
{
	printa("%s (%d, %d) %@d\n", @far);
	printa("%-16s %-8s %@d\n", @kind);
	printa("%s on %s %@d\n", @sizes);
	printa("%s, %s: %@d\n", @flags);
}
