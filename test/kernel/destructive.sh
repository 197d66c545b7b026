# timeout: 240
# What -w allows really happens: memory of a process is written, it gets signals, it stops; commands run, in order.
. ./lib.bash
program victim
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
# memory: not where the kernel is locked down, which kernel/lockdown.sh is about
ktrace -wq -c "$TMP/victim" -n "
	syscall::write:entry /pid == \$target && copyinstr(arg1) == \"unchanged\"/ { copyoutstr(\"changed\", arg1, 8); this->i = (int *)alloca(4); this->i[0] = 0x2e2e2e2e; copyout(this->i, arg1 + 3, 4); n++; }
	syscall::getppid:entry $mine { copyoutstr(\"x\", (uintptr_t)16, 2); n++; }
	END { printf(\"n %d\n\", n); }"
grep -q 'locked down' <<<"$err" && { echo "copyout() cannot be tried: this kernel is locked down"; exit $((fails ? 1 : 77)); }
expect 0 "$status"
# 16 is no address: a fault, and nothing else of the clause happens
expect_match 'invalid address \(0x10\) in action #1' "$err"
expect "buffer cha...., pipe cha....
end
n 1
signals 0" "$(grep . <<<"$out" | sort)" "copyout(), copyoutstr()"
