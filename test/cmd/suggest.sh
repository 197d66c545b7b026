# For an unknown name the nearest known one is suggested, including names of libraries not loaded.
. "$SRC/test/lib.bash"
means() { # expected suggestion, program
	dt -e -n "$2"
	expect_match "; did you mean \"$1\"\\?\$|: did you mean \"$1\"\\?\$" "$err"
}
means ENOENT 'BEGIN { trace(ENOET); }'
means SIGINT 'BEGIN { trace(SIGNT); }'
means O_RDONLY 'BEGIN { trace(O_RDOLNY); }'
means AF_INET6 'BEGIN { trace(AF_INNET6); }'
case $HOSTTYPE in x86_64) means R_RIP 'BEGIN { trace(uregs[R_RIPP]); }' ;; *) means R_PSTATE 'BEGIN { trace(uregs[R_PSTATEE]); }' ;; esac
means ECONNRESET 'BEGIN { trace(ENOENT); trace(ECONRESET); }'
means execname 'BEGIN { trace(execnam); }'
means printf 'BEGIN { print_f("x"); }'
means quantize 'BEGIN { @ = quantise(1); }'
means strlen 'BEGIN { trace(strln("x")); }'
means counter_of 'BEGIN { counter_of = 1; } END { trace(counterof); }'
means 'self->start' 'BEGIN { self->start = 1; } END /self->satrt/ { }'
means 'this->value' 'BEGIN { this->value = 1; trace(this->valeu); }'
means '@calls' 'BEGIN { @calls = count(); printa(@cals); }'
means printf 'BEGIN { prinf("x"); }'
means pr_fname 'BEGIN { trace(curpsinfo->pr_fnam); }'
means sched_debugfs 'struct s { int sched_debugfs; int b; }; BEGIN { trace(((struct s *)0)->sched_debgfs); }'
means BEGIN BEGN
means BEGIN begin
means 'connect-request", "connect-established" or "connect-refused' tcp:::connect
means 'wait-start" or "wait-done' io:::wait
means 'connect-established" or "accept-established' tcp:::established
means ERROR 'dtrace:::ERRROR'
means syscall 'sycall::read:entry'
means openat 'syscall::opneat:entry'
# the words of other tracers
means execname 'BEGIN { trace(comm); }'
means quantize 'BEGIN { @ = hist(1); }'
means copyinstr 'BEGIN { trace(str(arg0)); }'
# a colon too few: the provider was taken for a module or a function
means syscall::read:entry syscall:read:entry
means syscall::read: syscall:read
means sched:::on-cpu sched::on-cpu
means proc:::exec proc:exec
means proc::: proc
dt -e -n 'BEGIN { trace($taget); }'
expect_match 'did you mean \$target\?$' "$err"
dt -e -x quite -n BEGIN
expect_match 'did you mean "quiet"\?$' "$err"
dt -e -n '#pragma D option bufsise=1m
BEGIN'
expect_match 'did you mean "bufsize"\?$' "$err"
# nothing near: no suggestion
dt -e -n 'BEGIN { trace(xyzzyplugh); }'
expect "dtrace: invalid probe specifier BEGIN { trace(xyzzyplugh); }: in action list: failed to resolve xyzzyplugh: Unknown variable name" "$err"
# the words of bpftrace
while read -r theirs ours; do
	dt -e -n "$theirs"
	expect_match "does not match any probes: in D this is \"$ours\"\$" "$err"
	case $ours in fbt*|kinst*|pid*|*\\\**|cpc:::cache*) ;; cpc*) [ "$(id -u)" != 0 ] || { dt -e -n "$ours"; expect 0 "$status" "$ours"; } ;; *) dt -e -n "$ours"; expect 0 "$status" "$ours" ;; esac
done <<'EOT'
kprobe:vfs_nosuch fbt::vfs_nosuch:entry
kretprobe:vfs_nosuch fbt::vfs_nosuch:return
k:vfs_nosuch fbt::vfs_nosuch:entry
kprobe:xfs:vfs_nosuch fbt:xfs:vfs_nosuch:entry
kprobe:vfs_nosuch+0x1c kinst::vfs_nosuch:1c
fentry:vfs_nosuch fbt::vfs_nosuch:entry
tracepoint:syscalls:sys_enter_read syscall::read:entry
tracepoint:syscalls:sys_exit_read syscall::read:return
tracepoint:raw_syscalls:sys_enter syscall:::entry
tracepoint:sched:sched_switch sdt:sched::sched_switch
rawtracepoint:sched_switch sdt:::sched_switch
t:sched:sched_switch sdt:sched::sched_switch
uprobe:bash:readline pid\*:bash:readline:entry
uprobe:/bin/bash:readline pid\*:/bin/bash:readline:entry
uprobe:/bin/bash:readline+16 pid\*:/bin/bash:readline:10
uretprobe:/bin/bash:readline pid\*:/bin/bash:readline:return
uprobe:/bin/prog:cpp:f pid\*:/bin/prog:f:entry
usdt:/usr/bin/python3:python:gc__start python\*:python3::gc-start
usdt:/usr/bin/python3:gc__start \*:python3::gc-start
software:page-faults:100 cpc:::page-faults-all-100
hardware:cache-misses:1000000 cpc:::cache-misses-all-1000000
interval:s:1 tick-1s
profile:hz:99 profile-99hz
EOT
