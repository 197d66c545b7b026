# Typical one-liners for the stable providers: each runs unchanged, its output is correct, and agrees with the
# kernel's counters.
# timeout: 300
# needs: root bpf btf gcc
# uses: netns python3 ip
. "$SRC/test/lib.bash"
build life providers/life.c -lpthread
build turns providers/turns.c -lpthread
build locks providers/locks.c -lpthread
build counters providers/counters.c -lpthread
n=$(scale 400)
[ "$n" -ge 20 ] || n=20

# oneliner COMMAND PATTERN ARGS: the output of dtrace matches, and there are no messages except those of the command
oneliner() {
	local command=$1 pattern=$2
	shift 2
	ktrace "$@" -c "$command"
	expect 0 "$status" "$*: $err"
	expect "" "$(grep -E '^dtrace:' <<<"$err" | grep -vE 'drops? on CPU|description .* matched|pid [0-9]+ (has exited|terminated)|exited with')" "$*"
	grep -qE -- "$pattern" "$TMP/out" || { echo "no $pattern: $*"; head -n 40 "$TMP/out"; count_failure; }
}
# between WHAT LOW VALUE HIGH
between() { [ "$2" -le "$3" ] && [ "$3" -le "$4" ] || { echo "$1: $3, expected $2 to $4"; count_failure; }; }

# ---- proc ----
oneliner "$TMP/life" 'life +[0-9]+$' -n 'proc:::create /progenyof($target)/ { @[execname] = count(); }'
oneliner "$TMP/life" 'life' -n 'proc:::exec-success /progenyof($target)/ { trace(curpsinfo->pr_psargs); }'
oneliner "$TMP/life" 'life' -qn 'proc:::exec-success /progenyof($target)/ { printf("%Y %d %d %s %s\n", walltimestamp, uid, pid, execname, curpsinfo->pr_psargs); }'
oneliner "$TMP/life" '^life: life (13|2)$' -qn 'proc:::exec /progenyof($target)/ { self->parent = execname; } proc:::exec-success /self->parent != NULL/ { self->parent = NULL; }
	proc:::exec-failure /self->parent != NULL/ { printf("%s: %s %d\n", self->parent, execname, args[0]); self->parent = NULL; }'
oneliner "$TMP/life" 'life' -n 'proc:::start /progenyof($target)/ { self->start = timestamp; } proc:::exit /self->start/ { @[execname] = quantize(timestamp - self->start); self->start = 0; }'
oneliner "$TMP/life" 'life' -n 'proc:::lwp-start /tid != 1 && progenyof($target)/ { self->start = timestamp; } proc:::lwp-exit /self->start/ { @[execname] = quantize(timestamp - self->start); self->start = 0; }'
oneliner "$TMP/life" 'life life 10 +6$' -n 'proc:::signal-send /pid == $target && args[2] == SIGUSR1/ { @[execname, stringof(args[1]->pr_fname), args[2]] = count(); } END { printa("%s %s %d %@d\n", @); }'
oneliner "$TMP/life" '^life 11 2$' -qn 'proc:::signal-send /progenyof($target) && args[2] == SIGSEGV/ { printf("%s %d %d\n", execname, args[2], args[1]->pr_pid == pid ? 2 : 0); }'
oneliner "$TMP/life" ' 1 +8$' -n 'proc:::exit /progenyof($target)/ { @["code", args[0]] = count(); } END { printa("%s %d %@d\n", @); }'
expect 8 "$(awk '/code 1 / { print $NF }' "$TMP/out")" "exit codes"

# ---- sched: time on CPUs is what the kernel says the process has used ----
echo "$TMP/turns burn; times >$TMP/used; tail -n 1 $TMP/used | sed 's/[ms]/ /g' | awk '{ print \"used\", int(1e9 * (60 * \$1 + \$2 + 60 * \$3 + \$4)) }'" >"$TMP/times"
# (more by the time that the host of a virtual machine takes: it need agree in one run only)
on_cpu() {
	oneliner "bash $TMP/times" '^used [1-9]' -qn 'sched:::on-cpu /execname == "turns" && progenyof($target)/ { self->ts = timestamp; } sched:::off-cpu /self->ts/ { @["total"] = sum(timestamp - self->ts); self->ts = 0; }
	END { printa("%s %@d\n", @); }'
	[ "$(value total)" -ge $(($(value used) * 8 / 10)) ] && [ "$(value total)" -le $(($(value used) * 12 / 10 + 20000000)) ]
}
wait_for 30 on_cpu || cat "$TMP/out"
oneliner "$TMP/turns -n $n pipe" 'value' -n 'sched:::on-cpu { self->ts = timestamp; } sched:::off-cpu /self->ts/ { @[cpu] = quantize(timestamp - self->ts); self->ts = 0; }'
oneliner "$TMP/turns -n $n pipe" 'value' -n 'sched:::enqueue { this->len = qlen[args[2]->cpu_id]++; @[args[2]->cpu_id] = lquantize(this->len, 0, 100); }
	sched:::dequeue /qlen[args[2]->cpu_id]/ { qlen[args[2]->cpu_id]--; }'
oneliner "$TMP/turns -n $n pipe" 'value' -n 'sched:::enqueue /args[1]->pr_pid == $target/ { ts[args[0]->pr_lwpid, args[1]->pr_pid] = timestamp; }
	sched:::dequeue /ts[args[0]->pr_lwpid, args[1]->pr_pid]/ { @[args[2]->cpu_id] = quantize(timestamp - ts[args[0]->pr_lwpid, args[1]->pr_pid]); ts[args[0]->pr_lwpid, args[1]->pr_pid] = 0; }'
oneliner "$TMP/turns -n $n pipe" 'turns' -n 'sched:::wakeup /pid == $target && args[1]->pr_pid == $target/ { @[stringof(args[1]->pr_fname)] = count(); }'
# how long it sleeps, by what it sleeps on
oneliner "$TMP/turns -n $n pipe" '^3 [1-9]' -qn 'sched:::off-cpu /pid == $target && curlwpsinfo->pr_state == SSLEEP/ { self->sobj = curlwpsinfo->pr_stype; self->bedtime = timestamp; }
	sched:::on-cpu /self->bedtime/ { @[self->sobj] = count(); self->bedtime = 0; self->sobj = 0; } END { printa("%d %@d\n", @); }'
oneliner "$TMP/turns -n $n pipe" 'schedule|0x' -n 'sched:::off-cpu /pid == $target/ { @[stack()] = count(); }'
oneliner "$TMP/turns hog" 'turns' -n 'sched:::preempt /pid == $target/ { @[execname] = count(); }'
oneliner "$TMP/turns burn" 'turns' -n 'sched:::tick /pid == $target/ { @[execname, args[0]->pr_pri] = count(); }'
oneliner "$TMP/turns nice" '25' -n 'sched:::change-pri /args[1]->pr_pid == $target/ { @[args[0]->pr_clname] = lquantize(args[2], -100, 40, 1); }'

# ---- sysinfo and vminfo, for all of the machine: the kernel's counters at the first and at the last moment
# are within those read before and after ----
counter() { awk -v k="$1" '$1 == k { print $2 }' "${2:-/proc/vmstat}"; }
all() { for k in pgfault pgmajfault pgpgin pgpgout; do echo "$k $(counter $k)"; done; for k in ctxt processes; do echo "$k $(counter $k /proc/stat)"; done; }
cat >"$TMP/all" <<A
counter() { awk -v k="\$1" '\$1 == k { print \$2 }' "\${2:-/proc/vmstat}"; }
$(declare -f all)
all >$TMP/inner.0
$TMP/counters zero $n >/dev/null
$TMP/turns -n $n pipe
for i in 1 2 3 4 5; do /bin/true; done
dd if=/dev/urandom of=$TMP/some bs=1M count=2 conv=fsync status=none
all >$TMP/inner.1
A
all >"$TMP/outer.0"
ktrace -q -x aggsize=8m -c "bash $TMP/all" -n 'vminfo::: , sysinfo::: { @[probename] = sum(arg0); } END { printa("%s %@d\n", @); }'
all >"$TMP/outer.1"
expect 0 "$status" "$err"
grew() { echo $(($(counter "$2" "$TMP/$1.1") - $(counter "$2" "$TMP/$1.0"))); }
drops=$(lost "drops? on CPU")
within() { between "$1 ($drops drops)" $(($(grew inner "$1") - ${3:-0} - drops)) "$2" $(($(grew outer "$1") + ${3:-0})); }
within ctxt "$(value pswitch)"
within processes "$(value nthreads)"
within pgfault $(($(value as_fault) + $(value cow_fault))) 8
within pgmajfault "$(value maj_fault)" 20 # a fault that had to be tried again is one for perf and getrusage(), but not in /proc/vmstat
# kilobytes there; what is less than a page counts as one here
between pgpgin $(($(grew inner pgpgin) / 4)) "$(value pgpgin)" $(($(grew outer pgpgin) / 4 + $(value pgin) + 1))
between pgpgout $(($(grew inner pgpgout) / 4)) "$(value pgpgout)" $(($(grew outer pgpgout) / 4 + $(value pgout) + 1))

oneliner "$TMP/turns -n $n pipe" 'turns' -n 'sysinfo:::pswitch /pid == $target/ { @[execname] = count(); }'
oneliner "dd if=/dev/zero of=/dev/null bs=1000 count=50 status=none" ' 512 .* [0-9]+' -n 'sysinfo:::readch /pid == $target/ { @[execname] = quantize(arg0); }'
oneliner "dd if=/dev/zero of=/dev/null bs=1000 count=50 status=none" '^dd 50000$' -qn 'sysinfo:::writech /pid == $target/ { @[execname] = sum(arg0); } END { printa("%s %@d\n", @); }'
oneliner "$TMP/counters zero $n" 'counters' -n 'vminfo:::as_fault /pid == $target/ { @mem[execname] = sum(arg0); }'
oneliner "$TMP/counters zero $n" 'counters' -n 'vminfo:::zfod /execname == "counters"/ { @[probename, execname] = sum(arg0); }'
[ "$(nproc)" = 1 ] || oneliner "$TMP/counters barrier 50" '[0-9]' -n 'sysinfo:::xcalls { @[execname] = count(); }'

# ---- lockstat ----
if [ "$(nproc)" -gt 1 ]; then
	oneliner "$TMP/locks $n" '[0-9]$' -n 'lockstat:::adaptive-block /pid == $target/ { @[stack()] = sum(arg1); }'
	oneliner "$TMP/locks $n" 'value' -n 'lockstat:::rw-block /pid == $target/ { @[arg2 == 1 ? "reader" : "writer"] = quantize(arg1); }'
	oneliner "$TMP/locks $n" '[0-9]$' -n 'lockstat:::adaptive-spin, lockstat:::spin-spin /pid == $target/ { @[probename] = sum(arg1); }'
fi

# ---- io: a disk is needed ----
find_disk
if [ -n "$disk" ]; then
	file=$(mktemp "$disk/oneliners.XXXXXX")
	name=${file##*/}
	at_end 'rm -f "$file"; leave_disk'
	write="dd if=/dev/zero of=$file bs=64k count=16 conv=fsync status=none"
	oneliner "$write" "$name .* W\$" -qn "BEGIN { printf(\"%10s %58s %2s\\n\", \"DEVICE\", \"FILE\", \"RW\"); }
		io:::start /args[2]->fi_name == \"$name\"/ { printf(\"%10s %58s x %2s\\n\", args[1]->dev_statname, args[2]->fi_pathname, args[0]->b_flags & B_READ ? \"R\" : \"W\"); }"
	oneliner "$write" "$name 1048576\$" -qn "io:::start /args[2]->fi_name == \"$name\"/ { @[args[2]->fi_pathname] = sum(args[0]->b_bcount); } END { printa(\"%s %@d\\n\", @); }"
	oneliner "$write" 'value' -n "io:::start /args[2]->fi_name == \"$name\"/ { start[args[0]->b_edev, args[0]->b_blkno] = timestamp; }
		io:::done /start[args[0]->b_edev, args[0]->b_blkno]/ { @[args[1]->dev_statname, args[1]->dev_pathname] = quantize(timestamp - start[args[0]->b_edev, args[0]->b_blkno]); start[args[0]->b_edev, args[0]->b_blkno] = 0; }"
	oneliner "$write" 'value' -n "io:::start /args[2]->fi_name == \"$name\"/ { start[arg0] = timestamp; } io:::done /start[arg0]/ { @[args[2]->fi_mount, args[2]->fi_fs] = quantize(timestamp - start[arg0]); start[arg0] = 0; }"
	oneliner "$write" 'dd' -n 'io:::wait-start /pid == $target/ { self->t = timestamp; } io:::wait-done /self->t/ { @[execname, args[1]->dev_statname] = quantize(timestamp - self->t); self->t = 0; }'
	oneliner "$write" 'value' -n "io:::start /args[2]->fi_name == \"$name\"/ { @size[execname] = quantize(args[0]->b_bcount); }"
fi

# ---- the network ----
if [ -x /usr/bin/python3 ] && unshare -n true 2>/dev/null; then
	ip=$(command -v ip || echo "busybox ip")
	hold_ports # what is received may be handled by a thread of the kernel: the port says whose it is
	printf '%s link set lo up\nexec /usr/bin/python3 %s/test/providers/net.py $1 10 %d\n' "$ip" "$SRC" "$port" >"$TMP/net"
	net() { oneliner "unshare -n bash $TMP/net $1" "${@:2}"; }
	net tcp '127.0.0.1 +300$' -n 'tcp:::send /args[4]->tcp_dport == '$port' || args[4]->tcp_sport == '$port'/ { @bytes[args[2]->ip_daddr] = sum(args[2]->ip_plength - args[4]->tcp_offset); }'
	net tcp "127.0.0.1 +$port +10\$" -n 'tcp:::accept-established /args[3]->tcps_lport == '$port'/ { @[args[3]->tcps_raddr, args[3]->tcps_lport] = count(); }'
	net tcp 'python3 +127.0.0.1 +10$' -n 'tcp:::connect-request /progenyof($target)/ { @[execname, args[2]->ip_daddr] = count(); }'
	net tcp "$port +[0-9]+\$" -n 'tcp:::receive /args[4]->tcp_dport == '$port'/ { @[args[2]->ip_saddr, args[4]->tcp_dport] = count(); }'
	net tcp 'value' -n 'tcp:::connect-request /progenyof($target)/ { start[args[1]->cs_cid] = timestamp; } tcp:::connect-established /start[args[1]->cs_cid]/ { @[args[3]->tcps_raddr] = quantize(timestamp - start[args[1]->cs_cid]); start[args[1]->cs_cid] = 0; }'
	net tcp 'state-syn-sent -> state-established' -qn 'tcp:::state-change /args[3]->tcps_rport == '$port'/ { printf("%s -> %s\n", tcp_state_string[args[5]->tcps_state], tcp_state_string[args[3]->tcps_state]); }'
	net refused "127.0.0.1 +$((port + 1)) +10\$" -n 'tcp:::accept-refused /args[4]->tcp_sport == '$((port + 1))'/ { @[args[2]->ip_daddr, args[4]->tcp_sport] = count(); }'
	net udp 'python3 +127.0.0.1 +1000$' -n 'udp:::send /progenyof($target)/ { @[execname, args[2]->ip_daddr] = sum(args[4]->udp_length - 8); }'
	net udp 'lo +UDP +10$' -n 'ip:::send /progenyof($target)/ { @[args[3]->if_name, args[4]->ipv4_protostr] = count(); }'
	net udp 'value' -n 'ip:::send, ip:::receive /progenyof($target)/ { @[probename, args[2]->ip_daddr] = quantize(args[2]->ip_plength); }'
fi
