#!/usr/sbin/dtrace -s
// run: -e
// needs: root bpf btf
/*
 * activity.d: a line per second, as vmstat prints it.
 */
#pragma D option quiet

int forks, execs, calls, switches, faults, major, pageins, reads, writes;

BEGIN
{
	lines = 0;
}

tick-1s
/lines-- <= 0/
{
	printf("%-20s %6s %6s %8s %8s %8s %6s %6s %6s %6s\n", "TIME", "FORKS", "EXECS", "CALLS", "SWITCH", "FAULTS", "MAJOR", "PGIN", "READS", "WRITES");
	lines = 20;
}

sysinfo:::pswitch { switches++; }
sysinfo:::sysfork, sysinfo:::sysvfork { forks++; }
sysinfo:::sysexec { execs++; }
sysinfo:::sysread { reads += (int)arg0; }
sysinfo:::syswrite { writes += (int)arg0; }
syscall:::entry { calls++; }
vminfo:::as_fault { faults++; }
vminfo:::maj_fault { major++; }
vminfo:::pgpgin { pageins += (int)arg0; }

tick-1s
{
	printf("%-20Y %6d %6d %8d %8d %8d %6d %6d %6d %6d\n", walltimestamp, forks, execs, calls, switches, faults, major, pageins, reads, writes);
	forks = execs = calls = switches = faults = major = pageins = reads = writes = 0;
}
