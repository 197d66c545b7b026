# timeout: 240
# What -w allows really happens: memory of a process is written, it gets signals, it stops; commands run, in order.
# needs: root bpf gcc
. "$SRC/test/lib.bash"
build victim engine/victim.c
mine='/pid == $target/'

ktrace -wq -c "$TMP/victim" -n "syscall::getuid:entry $mine { raise(SIGUSR1); raise(SIGUSR1 + 0); }"
expect 0 "$status" "$err"
expect "buffer unchanged, pipe unchanged
signals 1
end" "$(grep . <<<"$out")" "raise(), which a second one joins"
ktrace -wq -c "$TMP/victim" -n "syscall::getppid:return $mine { stop(); system(\"while ! grep -q '^State:.*stopped' /proc/%d/status; do sleep 0.05; done; echo it stopped; kill -CONT %d\", pid, pid); }"
expect 0 "$status" "$err"
expect "buffer unchanged, pipe unchanged
signals 0
it stopped
end" "$(grep . <<<"$out")" "stop()"
ktrace -wq -x switchrate=10ms -n 'BEGIN { printf("one\n"); system("echo %s-%d", "two", 2); printf("three\n"); exit(0); }'
expect "one
two-2
three" "$(grep . <<<"$out")" "system()"
ktrace -wq -n "BEGIN { freopen(\"$TMP/file\"); printf(\"in the file\n\"); freopen(\"\"); printf(\"not\n\"); exit(0); }"
expect "in the file" "$(cat "$TMP/file")" "freopen()"
expect "not" "$(grep . <<<"$out")" "freopen()"
for x in 'raise(9)' 'stop()' 'system("true")' 'chill(1)' 'copyoutstr("x", 0, 1)' 'copyout((void *)0, 0, 1)' 'freopen("x")'; do
	ktrace -qn "syscall::getppid:entry { $x; }"
	expect 1 "$status" "$x"
	expect_match 'Destructive actions not allowed' "$err"
done
# memory: not where the kernel is locked down (see engine/lockdown.sh)
ktrace -wq -c "$TMP/victim" -n "
	syscall::write:entry /pid == \$target && copyinstr(arg1) == \"unchanged\"/ { copyoutstr(\"changed\", arg1, 8); this->i = (int *)alloca(4); this->i[0] = 0x2e2e2e2e; copyout(this->i, arg1 + 3, 4); n++; }
	syscall::getppid:entry $mine { copyoutstr(\"x\", (uintptr_t)16, 2); n++; }
	END { printf(\"n %d\n\", n); }"
grep -q 'locked down' <<<"$err" && skip "copyout() cannot be tried: this kernel is locked down"
expect 0 "$status"
# 16 is not an address: a fault, and nothing else of the clause happens
expect_match 'invalid address \(0x10\) in action #1' "$err"
expect "buffer cha...., pipe cha....
end
n 1
signals 0" "$(grep . <<<"$out" | sort)" "copyout(), copyoutstr()"
# sizes that are constant, known at run time, none, too large; sources of every kind: the verifier must accept
# all of them
for x in 'copyout("abc", arg0, 3)' 'copyout("abc", arg0, arg1)' 'copyout("x", arg0, 0)' 'copyout("x", arg0, 100000)' 'copyout("x", arg0, -1)' 'copyout(curthread, arg0, arg1)' \
	'this->p = alloca(arg2); copyout(this->p, arg0, arg2)' 'copyout(copyin(arg0, arg1), arg2, arg1)' 'copyout(arg0 ? "a" : "bb", arg1, arg2 & 7)' \
	'copyoutstr("abc", arg0, 0)' 'copyoutstr(execname, arg0, arg1)' 'copyoutstr(copyinstr(arg0), arg1, 10)' 'x = strjoin("a", execname); copyoutstr(x, arg0, strlen(x))' \
	'self->b = "abc"; copyout(self->b, arg0, arg1); copyoutstr(self->b, arg0, 1)'; do
	ktrace -wq -x strsize=$((${#x} % 2 ? 8 : 4096)) -c "$TMP/victim" -n "syscall::getppid:entry, pid\$target:victim:main:entry /pid == 0/ { $x; } profile-1 /pid == 0/ { $x; } BEGIN { exit(0); }"
	expect 0 "$status" "$x: $err"
	expect "" "$err" "$x"
done
