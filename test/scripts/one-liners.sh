# One-liners as people type them. Each must compile; what is not here yet (fbt, io, ...) with -Z.
. "$SRC/test/lib.bash"
compiles() { # flags and programs
	"$DTRACE" -x engine=vm -e "$@" >"$TMP/out" 2>"$TMP/err" </dev/null && [ ! -s "$TMP/err" ] && return
	fails=$((fails + 1))
	echo "does not compile: $*"
	cat "$TMP/err"
}

# counting
compiles -n 'syscall:::entry { @num[execname] = count(); }'
compiles -n 'syscall:::entry { @num[probefunc] = count(); }'
compiles -n 'syscall:::entry { @num[pid,execname] = count(); }'
compiles -n 'syscall:::entry /execname == "bash"/ { @[probefunc] = count(); }'
compiles -n 'syscall:::entry/pid == $1/{@[probefunc]=count();}' 1234
compiles -n 'syscall:::' -n 'END { printf("bye"); }'
compiles -n 'syscall::read:entry { @[fd = arg0] = count(); }'
compiles -n syscall:::entry
compiles -n 'tick-1s' -n 'profile-99'
compiles -P syscall
compiles -m 'syscall:vmlinux' -f 'syscall::read' -f openat
compiles -P 'syscall /pid == $pid/ { @ = count(); }'
compiles -f 'read { trace(probename); }'
compiles -i 1 -i '2 { trace(1); }'
compiles -i '3/pid/{}'

# files and sizes
compiles -n 'syscall::open*:entry { printf("%s %s", execname, copyinstr(probefunc == "open" ? arg0 : arg1)); }'
compiles -n 'syscall::read:entry /arg2 > 65536/ { trace(arg2); }'
compiles -n 'syscall::read:return /arg0 > 0/ { @bytes[execname] = sum(arg0); }'
compiles -n 'syscall::write:entry { @dist[execname] = quantize(arg2); }'
compiles -n 'syscall::write:entry { @dist = lquantize(arg2, 0, 1000, 100); }'
compiles -qn 'syscall::execve:entry { printf("%Y %s\n", walltimestamp, copyinstr(arg0)); }'
compiles -n 'syscall::chdir:entry { trace(copyinstr(arg0)); } syscall::chdir:return { trace(errno); }'
compiles -n 'syscall::unlink:entry,syscall::rename:entry{trace(copyinstr(arg0));}'
compiles -n 'syscall::bind:entry { tracemem(copyin(arg1, 16), 16); }'

# time
compiles -n 'syscall::read:entry { self->t = timestamp; } syscall::read:return /self->t/ { @[execname] = quantize(timestamp - self->t); self->t = 0; }'
compiles -n 'syscall::fsync:entry { self->t = vtimestamp } syscall::fsync:return /self->t/ { @ = max((vtimestamp - self->t)/1000) }'
compiles -n 'profile-1001 { @[cpu, pid ? "busy" : "idle"] = count(); } tick-1s { printa(@); clear(@); }'
compiles -n 'profile-997 /arg0/ { @[stack()] = count(); } tick-60s { exit(0); }'
compiles -x ustackframes=100 -n 'profile-97 /execname == "mysqld" && arg1/ { @[ustack()] = count(); } tick-60s { exit(0); }'
compiles -x stackframes=100 -n 'profile-199 /arg0/ { @[stack(5)] = count(); }'
compiles -n 'profile-997 { @[func(arg0)] = count(); }'
compiles -n 'profile-997 { @[stringof(curthread->comm)] = count(); }'

# the kernel and processes
compiles -Z -n 'fbt::vfs_read:entry { @[stack()] = count(); }'
compiles -Z -n 'fbt::*alloc*:entry /execname=="csh"/ { trace(arg0); }'
compiles -Z -n 'fbt:::return /arg1 == -ENOMEM/ { @[probefunc, stack(3)] = count(); }'
compiles -Z -F -n 'fbt:ext4::entry,fbt:ext4::return {}'
compiles -Z -n 'fbt::tcp_v4_connect:entry { printf("%s[%d]", execname, pid); }'
compiles -Z -n 'io:::start { @[execname] = count(); }'
compiles -x quiet -Z -n 'io:::start { @[stack()] = count(); }'
compiles -Z -n 'io:::start { @[pid, execname] = quantize(arg0); }' -n 'io:::done { @done = count(); }'
compiles -Z -n 'proc:::exec-success { trace(execname); }'
compiles -Z -n 'proc:::create { @[execname, uid] = count(); }'
compiles -Z -n 'sched:::off-cpu /execname == "sshd"/ { @[stack()] = count(); }'
compiles -Z -n 'lockstat:::adaptive-block { @time[stack(5), "ns"] = sum(arg1); }'
compiles -Z -n 'vminfo:::as_fault { @mem[execname] = sum(arg0); }'
compiles -Z -n 'sysinfo:::xcalls { @[execname] = count(); }'
compiles -Z -n 'mib:::tcp* { @[probename] = sum(arg0); }'
compiles -Z -n 'pid$target:::entry { @[probemod] = count(); }' -c 'true'
compiles -Z -n 'pid$target::malloc:entry { @[ustack(5)] = sum(arg0); }' -p $$
compiles -Z -n 'pid123:a.out:main:4,pid123:a.out:main:1c { trace(uregs[R_R0]); }'
compiles -Z -n 'plockstat$target:::mutex-block { @[ustack()] = count(); }'
compiles -Z -n 'kinst::vfs_read:4,kinst::vfs_read:12 { @[stack(), probename] = count(); }'
compiles -Z -n 'python*:::function-entry { @[copyinstr(arg0), copyinstr(arg1)] = count(); }'
compiles -Z -n 'tcp:::receive,tcp:::send { @[probename] = count(); }' -n 'udp:::send { @u = sum(arg1); }'

# options and several programs
compiles -w -n 'syscall::kill:entry /arg1 == 9/ { raise(SIGSTOP); }'
compiles -qw -n 'tick-1s { system("date; uptime"); }'
compiles -x bufpolicy=ring -x bufsize=16k -n 'syscall:::entry { trace(timestamp); }'
compiles -x strsize=8k -b 64m -x dynvarsize=64m -n 'syscall::write:entry { self->s = copyinstr(arg1, arg2); }'
compiles -x aggsortkey=1 -x aggsortrev -n 'BEGIN { @[1] = count(); }'
compiles -n 'int x; string s; BEGIN { x = 1; s = "a"; }' -n 'END { printf("%d %s", x, s); }'
compiles -n 'inline int TEN = 10; BEGIN { trace(TEN); }'
compiles -n 'BEGIN { trace($1); trace($$2); }' 12 word
compiles -n 'BEGIN, END, ERROR { trace(probename); }'
compiles -n 'dtrace:::BEGIN{trace("x")}' -qFv
compiles -x defaultargs -n 'BEGIN /$1 == 0 && $$2 == ""/ { }'
compiles -x argref -n BEGIN unused words
