# The proc provider: every probe, with the counts of a program that is made for it.
# timeout: 200
# needs: root bpf btf gcc
# uses: python3
. "$SRC/test/lib.bash"
watch proc
build life providers/life.c -lpthread
ulimit -c 0

# ---- how often, and with which arguments; only life and its children ----
ktrace -q -c "$TMP/life" -n '
	proc::: /progenyof($target)/ { @n[probename] = count(); }
	proc:::exec /progenyof($target)/ { @exec[basename(args[0])] = count(); }
	proc:::exec-failure /progenyof($target)/ { @failure[args[0]] = count(); }
	proc:::exit /progenyof($target)/ { @exit[args[0]] = count(); }
	proc:::fault /progenyof($target)/ { @fault[args[0], args[1]->si_signo] = count(); }
	proc:::signal-send /progenyof($target) && args[1]->pr_pid == $target && args[2] != SIGCHLD/ { @send[args[2], args[0]->pr_lwpid == $target] = count(); }
	proc:::signal-discard /progenyof($target) && args[2] != SIGCHLD/ { @discard[args[2], args[1]->pr_pid == pid] = count(); }
	proc:::signal-handle /pid == $target/ { @handle[args[0], args[1]->si_code, args[1]->si_pid == pid, args[2] != NULL] = count(); }
	proc:::signal-clear /pid == $target/ { @clear[args[0], args[1]->si_signo, args[1]->si_pid == pid, args[1]->si_value & 0xff] = count(); }
	END {
		printa("n %s %@d\n", @n); printa("exec %s %@d\n", @exec); printa("failure %d %@d\n", @failure); printa("exit %d %@d\n", @exit);
		printa("fault %d %d %@d\n", @fault); printa("send %d %d %@d\n", @send); printa("discard %d %d %@d\n", @discard);
		printa("handle %d %d %d %d %@d\n", @handle); printa("clear %d %d %d %d %@d\n", @clear);
	}'
expect 0 "$status"
expect "" "$err" messages
# 12 children; 5 threads of life and 1 of a child; all of them end. The first exec of life itself was before.
count() { awk -v p="$1" '$1 == "n" && $2 == p { print $3 }' "$TMP/out"; }
expect 12 "$(count create)" create
expect 12 "$(count start)" start
expect 18 "$(count lwp-start)" lwp-start
expect 6 "$(count lwp-create)" lwp-create
expect 19 "$(count lwp-exit)" lwp-exit
expect 13 "$(count exit)" exit
divide='fault 8 8 1' # a division by 0 is a fault only there
case $HOSTTYPE in x86_64) ;; *) divide= ;; esac
expect "$([ -n "$divide" ] && echo 4 || echo 3)" "$(count fault)" fault
expect "failure 2 2
failure 13 2" "$(grep ^failure "$TMP/out" | sort -n -k2)" exec-failure
# the exec of life itself happens after tracing has begun, if the tracer holds it before
execs=$(count exec) good=$(count exec-success)
expect 4 "$((execs - good))" "exec, exec-success"
[ "$good" = 4 ] || [ "$good" = 5 ] || { echo "exec-success: $good"; fails=1; }
expect 4 "$(count exec-failure)" "exec-failure"
expect 2 "$(awk '/^exec nonexistent|^exec \/$|^exec $/ { n++ } $1 == "exec" && $2 == "life" { life = $3 } END { print (life >= 6) + 1 }' "$TMP/out")" "path of exec"
# 4 with 7, 2 with 3, 1 with 5, life itself; 5 killed. Core dumps are off, or taken by a program: then they count as dumped
expect 8 "$(awk '$1 == "exit" && $2 == 1 { print $3 }' "$TMP/out")" "CLD_EXITED"
expect 5 "$(awk '$1 == "exit" && $2 > 1 { n += $3 } END { print n }' "$TMP/out")" "CLD_KILLED"
expect "fault 1 4 1
fault 5 7 1
fault 6 11 1${divide:+
$divide}" "$(grep ^fault "$TMP/out" | sort -n -k2)" fault
expect "send 1 1 3
send 10 1 6
send 12 1 1" "$(grep ^send "$TMP/out" | sort -n -k2)" signal-send
expect "discard 1 1 3" "$(grep ^discard "$TMP/out")" signal-discard
expect "handle 10 0 1 1 6" "$(grep ^handle "$TMP/out")" signal-handle
expect "clear 12 12 1 42 1" "$(grep ^clear "$TMP/out")" signal-clear

# ---- the process that a probe is about ----
ktrace -q -c "$TMP/life" -n '
	proc:::create /pid == $target/ { self->child = args[0]->pr_pid; child[args[0]->pr_pid] = 1;
		@who["create", args[0]->pr_ppid == pid, args[0]->pr_pid != pid, args[0]->pr_nlwp, args[0]->pr_fname] = count();
		@args[args[0]->pr_psargs == curpsinfo->pr_psargs] = count(); }
	proc:::start /child[pid]/ { @who["start", ppid == $target, curpsinfo->pr_pid == pid, curpsinfo->pr_nlwp, curpsinfo->pr_fname] = count(); }
	proc:::lwp-create /pid == $target/ { new[args[0]->pr_lwpid] = 1;
		@who["lwp-create", args[1]->pr_pid == pid, args[0]->pr_lwpid != tid, args[1]->pr_nlwp > 1, args[1]->pr_fname] = count(); }
	proc:::lwp-start /new[tid]/ { @who["lwp-start", pid == $target, curlwpsinfo->pr_lwpid == tid, curpsinfo->pr_nlwp > 1, execname] = count(); }
	proc:::lwp-exit /new[tid]/ { @who["lwp-exit", pid == $target, curlwpsinfo->pr_state == SONPROC, 0, execname] = count(); }
	END { printa("%s %d %d %d %s %@d\n", @who); printa("args %d %@d\n", @args); }'
expect 0 "$status"
expect "" "$err" messages
expect "args 1 12
create 1 1 1 life 12
lwp-create 1 1 1 life 5
lwp-exit 1 1 0 life 5
lwp-start 1 1 1 life 5
start 1 1 1 life 12" "$(grep . "$TMP/out" | sort)" "who"

# ---- the order within one process, and that the tracer's own clauses cannot upset it ----
ktrace -q -c "$TMP/life" -n 'uint64_t seq[pid_t];
	proc:::exit, proc:::lwp-exit, proc:::exec-success, proc:::exec, proc:::lwp-start, proc:::start
	/progenyof($target) && pid != $target && ppid == $target/ { seq[pid] = seq[pid] * 10 + (probename == "start" ? 1 : probename == "lwp-start" ? 2 :
		probename == "exec" ? 3 : probename == "exec-success" ? 4 : probename == "lwp-exit" ? 5 : 6); }
	proc:::exit /seq[pid]/ { @[seq[pid]] = count(); seq[pid] = 0; }
	END { printa("%d %@d\n", @); }'
expect 0 "$status"
# 6 is counted by the clause before it; a process with one more thread also counts that one
expect "1256 5
123356 2
123456 4" "$(grep -E '^(1256|123456|123356) ' "$TMP/out" | sort -n)" "order"

# ---- many clauses see the same arguments, whatever they do with memory of their own ----
{
	echo '#pragma D option quiet'
	for i in $(seq 1 200); do
		echo "proc:::exec /progenyof(\$target) && basename(args[0]) == \"life\"/ { this->s = strjoin(args[0], \"x$i\"); @[this->s == strjoin(args[0], \"x$i\"), basename(args[0])] = count(); }"
	done
	echo 'proc:::exec-failure /progenyof($target)/ { trace(*(int *)0); } ERROR { @e[arg4] = count(); }'
	echo 'END { printa("same %d %s %@d\n", @); printa("error %d %@d\n", @e); }'
} >"$TMP/many.d"
ktrace -c "$TMP/life" -s "$TMP/many.d"
execs=$(awk '$1 == "same" && $2 == 1 && $3 == "life" { print $4 }' "$TMP/out")
# 4 that succeed, 2 of the failures; the exec of life itself, if it is seen
[ "${execs:-0}" = 1200 ] || [ "${execs:-0}" = 1400 ] || { echo "many clauses: $execs"; cat "$TMP/out" "$TMP/err"; fails=1; }
expect "error 1 4" "$(grep ^error "$TMP/out")" "ERROR"

# ---- every member of the types ----
if [ -x /usr/bin/python3 ]; then
	known="/usr/bin/python3 $SRC/test/providers/known.py one two"
	case $HOSTTYPE in x86_64) getppid=110 ;; *) getppid=173 ;; esac
	fields 'syscall::getppid:entry /ppid == $target/' -c "$known" <<-T
	= psinfo_t curpsinfo
	pr_nlwp % == 1
	pr_pid % == pid
	pr_ppid % == \$target
	pr_pgid % == pid
	pr_sid % == pid
	pr_uid % == 0
	pr_euid % == 12
	pr_gid % == 0
	pr_egid % == 13
	pr_addr % == (uintptr_t)curthread
	pr_ttydev % == PRNODEV
	pr_start.tv_sec % <= walltimestamp / 1000000000 && % > walltimestamp / 1000000000 - 100
	pr_start.tv_nsec % >= 0 && % < 1000000000
	pr_fname % == "python3"
	pr_psargs strstr(%, "known.py one two") != NULL
	pr_arglen % > 30 && % < 500
	pr_argc % == 4
	pr_argv copyinstr(*(uintptr_t *)copyin(%, 8)) == "/usr/bin/python3"
	pr_envp strchr(copyinstr(*(uintptr_t *)copyin(%, 8)), '=') != NULL
	pr_dmodel % == PR_MODEL_LP64
	pr_taskid % == 0
	pr_projid % == 0
	pr_poolid % == 0
	pr_zoneid % == 0
	pr_jailid % == 0
	pr_contract % == 0
	= lwpsinfo_t curlwpsinfo
	pr_flag (% & (PR_STOPPED | PR_ASLEEP | PR_IDLE | PR_ISSYS)) == 0
	pr_lwpid % == tid
	pr_addr % == (uintptr_t)curthread
	pr_wchan % == 0
	pr_stype % == SOBJ_NONE
	pr_state % == SONPROC
	pr_sname % == 'O'
	pr_syscall % == $getppid
	pr_pri % == 20
	pr_clname % == "TS"
	pr_onpro % == 0 && cpu == 0
	pr_bindpro % == 0
	pr_bindpset % == PS_NONE
	pr_lgrp % == 0
	pr_name stringof(%) == execname && %[0] != 0
	T
	# what a signal is accompanied by depends on the signal
	siginfo() { # clause, code, and what of pid, status, address
		fields "$1" -c "$known" <<-T
		= siginfo_t args[1]
		si_signo $2
		si_code $3
		si_errno % == 0
		si_pid $4
		si_uid ${7:-1}
		si_status $5
		si_addr $6
		si_value 1
		si_band 1
		si_fd 1
		T
	}
	siginfo 'proc:::signal-handle /progenyof($target) && args[0] == SIGUSR1/' '% == SIGUSR1' '% == SI_USER' '% == pid' 1 1 '% == 0'
	siginfo 'proc:::signal-handle /progenyof($target) && args[0] == SIGCHLD/' '% == SIGCHLD' '% == CLD_EXITED' '% > pid' '% == 7' 1
	siginfo 'proc:::fault /progenyof($target) && args[0] == FLTBOUNDS/' '% == SIGSEGV' '% == SEGV_MAPERR' 1 1 '% == 24'
fi

# ---- listing ----
expect "create exec exec-failure exec-success exit fault lwp-create lwp-exit lwp-start signal-clear signal-discard signal-handle signal-send start" \
	"$("$DTRACE" -lP proc | awk 'NR > 1 { print $NF }' | sort | xargs)" "-l"
expect "args[0]: lwpsinfo_t *
args[1]: psinfo_t *
args[2]: int" "$("$DTRACE" -lvn proc:::signal-send | sed -n 's/^.*\(args\[\)/\1/p')" "-lv"
"$DTRACE" -n 'proc:::exce { exit(0); }' 2>"$TMP/err" && fails=1
grep -q 'provider proc has no probe "exce"; did you mean "exec"?' "$TMP/err" || { echo "no suggestion"; cat "$TMP/err"; fails=1; }
fired
# which part of a description is wrong
for what in 'proc:x::exec:provider proc has no module "x"' 'audit::aue_opn:commit:provider audit has no function "aue_opn"; did you mean "aue_open"?'; do
	"$DTRACE" -n "${what%:*}" -n 'BEGIN { exit(0); }' 2>"$TMP/err" && fails=1
	grep -qF -- "${what##*:}" "$TMP/err" || { echo "${what%:*}: no reason"; cat "$TMP/err"; fails=1; }
done
exit "${fails:-0}"
