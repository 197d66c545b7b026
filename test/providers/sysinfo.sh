# The sysinfo provider: every probe, with known work, against getrusage() and /proc/PID/io.
# timeout: 300
# needs: root bpf btf gcc
# uses: python3
. "$SRC/test/lib.bash"
watch sysinfo
build counters providers/counters.c -lpthread
build turns providers/turns.c -lpthread
build locks providers/locks.c -lpthread
n=$(scale 100)
[ "$n" -ge 5 ] || n=5

cat >"$TMP/window.d" <<'D'
self int on;
syscall::getppid:return /pid == $target/ { self->on = 1; }
syscall::getpgid:entry /pid == $target/ { self->on = 0; }
sysinfo::: /self->on/ { @[probename] = sum(arg0); }
END { printa("%s %@d\n", @); }
D
# window ARGS: what counters does, and sysinfo counts meanwhile (an interrupt of a CPU while a probe of it runs is a drop)
window() {
	ktrace -q -s "$TMP/window.d" -c "$TMP/counters $*"
	expect 0 "$status" "$*: $err"
	expect "" "$(grep -vE 'drops? on CPU' <<<"$err")" "$*"
}
at_least() { [ "$(value "$1")" -ge "$2" ] || { echo "$3: $1 is $(value "$1"), expected at least $2"; cat "$TMP/out"; count_failure; }; }
# some PROBES COMMAND: each fires while it runs; where that is up to what else the machine does, when it runs once more
some() {
	local p these=
	for p in $1; do listed "$p" && these="$these${these:+, }sysinfo:::$p"; done
	[ -n "$these" ] || return
	wait_for 30 all_fire "$these" "$2"
}
all_fire() { # PROBES COMMAND
	local p
	ktrace -q -n "$1"' { @[probename] = sum(arg0); } END { printa("%s %@d\n", @); }' -c "$2"
	for p in $1; do
		p=${p#*:::}
		[ "$(value "${p%,}")" != 0 ] || return
	done
}

window io "$n"
expect $((5 * n)) "$(value sysread)" sysread
expect "$(value syscr)" $((4 * n)) syscr # one call fails before anything is read
expect "$(value syscw)" "$(value syswrite)" syscw
expect $((72 * n)) "$(value readch)" readch
expect $((44 * n)) "$(value writech)" writech
expect $((9 * n)) "$(value syscall)" syscall
window fork 3
expect 4 "$(value sysfork)" sysfork # the last one fails
expect 3 "$(value sysvfork)" sysvfork
expect 9 "$(value nthreads)" nthreads
expect 1 "$(value procovf)" procovf
ktrace -q -c "$TMP/counters spawn 5" -n 'sysinfo:::sysspawn,sysinfo:::sysexec /progenyof($target)/ { @[probename] = sum(arg0); } END { printa("%s %@d\n", @); }'
expect 5 "$(value sysspawn)" sysspawn
expect 5 "$(value sysexec)" sysexec
window ipc 6
expect 6 "$(value sema)" sema
expect 12 "$(value msg)" msg
whole() { window switch "$n"; [ "$(value torn)" = 0 ]; }
wait_for 30 whole
expect $(($(value nvcsw) + $(value nivcsw))) "$(value pswitch)" pswitch
expect "$(value nivcsw)" "$(value inv_swtch)" inv_swtch
window zero "$n"
expect "$(value faults)" "$(value trap)" "trap, by page faults"
window trap 10
expect $((10 + $(value faults))) "$(value trap)" "trap, by instructions"
# as many as the scheduler says, which may be none where the CPUs have other work
ktrace -q -c "sleep 0.5" -n '
	sysinfo:::idlethread { @n = sum(arg0); } sched:::off-cpu /args[1]->pr_pid == 0/ { @n = sum(-1); @idle = count(); }
	END { printa("difference %@d\n", @n); printa("idle %@d\n", @idle); }'
expect 0 "$(value difference)" idlethread
excuses=()
[ "$(value idle)" -gt 0 ] || excuses+=(':idlethread$: no CPU was ever idle')
[ "$(nproc)" = 1 ] || some xcalls "$TMP/counters barrier 50"
some inv_swtch "$TMP/turns hog"

# ---- locks that others hold: two CPUs, or a thread that is preempted while it has one ----
if [ "$(nproc)" -gt 1 ]; then
	# which thread waits is random: all of sysinfo at once, which slows down the holders of locks, and
	# again if it was not enough
	contended() {
		ktrace -q -n 'sysinfo::: { @[probename] = sum(arg0); } END { printa("%s %@d\n", @); }' -c "$TMP/locks 1000"
		[ "$(lines '^(mutex_adenters|rw_rdfails|rw_wrfails) [1-9]')" = 3 ]
	}
	wait_for 60 contended
fi

# ---- disks ----
find_disk
file=
at_end 'rm -f "$file"; leave_disk'
if [ -n "$disk" ]; then
	file=$(mktemp "$disk/sysinfo.XXXXXX")
	some "bwrite lread lwrite" "bash -c 'dd if=/dev/zero of=$file bs=1M count=2 conv=fsync status=none; sync -f $file'"
	some bread "$TMP/counters major $file"
	ktrace -q -n 'sysinfo:::phread, sysinfo:::phwrite /progenyof($target)/ { @[probename] = sum(arg0); } END { printa("%s %@d\n", @); }' \
		-c "bash -c 'dd if=/dev/zero of=$file bs=64k count=8 oflag=direct status=none; dd if=$file of=/dev/null bs=64k iflag=direct status=none; cat $file >/dev/null'"
	expect 8 "$(value phread)" phread
	expect 8 "$(value phwrite)" phwrite
	some bawrite "bash -c 'dd if=/dev/zero of=$file bs=1M count=2 status=none; /usr/bin/python3 -c \"import os; f = os.open(\\\"$file\\\", os.O_RDWR); os.posix_fadvise(f, 0, 0, 4)\"; sleep 0.3'"
else
	echo "no disk: bread, bwrite and such are not tried"
fi

# ---- modules: in a guest ----
if listed modload && module dummy; then
	rmmod dummy
	export -f module
	some "modload modunload" "bash -c 'module dummy && rmmod dummy'"
	expect 1 "$(value modload)" modload
	expect 1 "$(value modunload)" modunload
fi

# ---- what is seen in functions of the kernel ----
if listed namei; then
	ktrace -q -c "stat /etc/passwd" -n 'sysinfo:::namei /pid == $target/ { @[probename] = sum(arg0); } END { printa("%s %@d\n", @); }'
	at_least namei 1 stat
else
	"$DTRACE" -n 'sysinfo:::namei { exit(0); }' 2>"$TMP/err" && count_failure
	grep -q 'sysinfo:::namei needs tracing of the kernel function path_lookupat: this kernel ' "$TMP/err" || { echo "no reason"; cat "$TMP/err"; count_failure; }
fi
if listed outch && [ -x /usr/bin/python3 ]; then
	some "outch canch rawch" '/usr/bin/python3 -c "import os, pty; m, s = pty.openpty(); os.write(s, b\"hello\"); os.write(m, b\"abc\\n\"); os.read(s, 10)"'
fi
for p in syscall sysread syswrite readch writech sysfork sysvfork sysspawn sysexec nthreads pswitch inv_swtch trap bread bwrite xcalls; do
	listed $p || { echo "$p is missing"; count_failure; }
done
[ "$(nproc)" -gt 1 ] || excuses+=(':xcalls$: there is no other CPU' ':(mutex_adenters|rw_rdfails|rw_wrfails)$: on one CPU who has a lock must be preempted at the right moment')
fired "${excuses[@]}"
