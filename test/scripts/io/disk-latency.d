#!/usr/sbin/dtrace -s
// run: -e -Z
/* Disk latency by device number and direction. An entry per request in flight. */

#pragma D option dynvarsize=8m

uint64_t start_time[dev_t, uint64_t];

io:::start
{
	start_time[(dev_t)arg1, arg2] = timestamp;
}

io:::done
/start_time[(dev_t)arg1, arg2]/
{
	this->delta = timestamp - start_time[(dev_t)arg1, arg2];
	@[getmajor((dev_t)arg1), getminor((dev_t)arg1), arg3 & 1 ? "W" : "R"] = quantize(this->delta / 1000);
	start_time[(dev_t)arg1, arg2] = 0;
}
