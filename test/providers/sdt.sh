# Every kernel tracepoint is a probe of sdt, with typed arguments from BTF.
# needs: btf
# uses: strace
set -e
$DTRACE -l -n sdt:sched::sched_switch | grep -q 'sdt  *sched  *sched_switch$'
$DTRACE -lvn sdt:sched::sched_switch | grep -q 'args\[2\]: struct task_struct \*'
$DTRACE -e -n 'sdt:sched::sched_switch { trace(args[2]->comm); }'
# the id that -l shows is the one that -i takes
id=$($DTRACE -l -n sdt:sched::sched_switch | awk 'NR == 2 { print $1 }')
$DTRACE -l -i "$id" | grep -q sched_switch
# a typo gets a suggestion
$DTRACE -e -n 'sdt:::sched_swich' 2>&1 | grep -q 'did you mean "sched_switch"'
# nothing of the kernel's types is read for a plain BEGIN
if command -v strace >/dev/null; then
	! strace -f -e trace=openat "$DTRACE" -e -n 'BEGIN { exit(0); }' 2>&1 | grep -q btf
fi
