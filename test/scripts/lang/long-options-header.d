#!/usr/sbin/dtrace -s
// run: -e
/* Every run-time option that scripts set in their first lines. */

#pragma D option quiet
#pragma D option bufsize=16m
#pragma D option bufpolicy=ring
#pragma D option bufresize=manual
#pragma D option aggsize=8m
#pragma D option aggrate=100ms
#pragma D option aggsortkey
#pragma D option aggsortkeypos=1
#pragma D option aggsortpos=0
#pragma D option aggsortrev=true
#pragma D option cleanrate=50hz
#pragma D option dynvarsize=16m
#pragma D option flowindent=off
#pragma D option jstackframes=50
#pragma D option nspec=8
#pragma D option rawbytes=no
#pragma D option specsize=512k
#pragma D option stackframes=40
#pragma D option stackindent=8
#pragma D option statusrate=500ms
#pragma D option strsize=1k
#pragma D option switchrate=10hz
#pragma D option ustackframes=40
#pragma D option temporal
#pragma D option agghist
#pragma D option aggpack=on
#pragma D option aggzoom

syscall:::entry
{
	@[execname, probefunc] = count();
}
