# What was found by using it for a week's investigations: each example as it was written down. The rules in full:
# engine/names-of-threads (execname, EINTR), engine/blocks (if), engine/absent (pages), processes/ustack_deep, engine/strsize,
# providers/sched_latency (waits of threads that are moved, against schedstat).
# timeout: 120
# needs: root bpf btf gcc
# uses: kprobes
. "$SRC/test/lib.bash"
build issue compat/issue.c -pthread
cp "$TMP/issue" "$TMP/java"

# the first thing that everybody types
ktrace -q -c 'cat /etc/hostname' -n 'syscall::openat:entry /pid == $target/ { printf("%s %s\n", execname, copyinstr(arg1)); }'
expect "0 " "$status $err"
expect 1 "$(lines '^cat /etc/hostname$')" "openat: $out"
expect 0 "$(grep '^cat /' "$TMP/out" | grep -vc '^cat /[^ ]*$')" "other lines"

# /execname == "java"/
ktrace -q -c "$TMP/java java" -n 'syscall::getppid:entry /execname == "java" && pid == $target/ { @[execname, threadname] = count(); } END { printa("%s/%s %@d\n", @); }'
expect "0 java/GC Thread#0 5 java/java 1" "$status $(grep . "$TMP/out" | sort | xargs)" "execname"

# copyin() before an if, read inside of it; in the next clause of the same firing it is still there
ktrace -q -c "bash -c 'exec 3<>/dev/udp/127.0.0.1/4242'" -n 'syscall::connect:entry /pid == $target/ {
	this->s = (struct sockaddr_in *)copyin(arg1, 16);
	if (this->s->sin_family == 2) { printf("%s:%d\n", inet_ntop(2, &this->s->sin_addr), ntohs(this->s->sin_port)); } }
	syscall::connect:entry /pid == $target && this->s->sin_family == 2/ { this->junk = alloca(16); printf("again %d\n", ntohs(this->s->sin_port)); }'
expect "0 
127.0.0.1:4242
again 4242" "$status $err
$(grep . "$TMP/out")" "copyin and if"

# errno
ktrace -q -c "$TMP/issue interrupt" -n 'syscall::read:return /pid == $target && errno == EINTR/ { printf("%d %d\n", errno, arg1 == -ERESTARTSYS || arg1 == -EINTR); }'
expect "0 4 1 EINTR" "$status $(grep . "$TMP/out" | sort | xargs)" "errno: $err"

# ustackdepth, of 400 calls and main()
build deep processes/deep.c -O2 -fno-optimize-sibling-calls
ktrace -q -c "$TMP/deep 400" -n 'syscall::getppid:entry /pid == $target/ { printf("%d\n", ustackdepth > 401); ustack(500); }'
expect "1 400" "$(head -n 1 "$TMP/out") $(lines '`down')" "ustackdepth: $err"

# strsize
ktrace -q -x strsize=64k -c "$TMP/issue long" -n 'syscall::write:entry /pid == $target && arg2 > 60000/ { printf("%d\n", strlen(copyinstr(arg1))); }'
expect "0 60000" "$status $(grep . "$TMP/out")" "strsize: $err"
ktrace -x strsize=65537 -n BEGIN
expect_match 'strsize.*out of range|out of range.*strsize' "$err"

# an option in a library, and errors in one
mkdir "$TMP/lib" "$TMP/bad" "$TMP/inline"
printf '#pragma D option strsize=600\ninline int LIB = 1;\n' >"$TMP/lib/raise.d"
dt -q -L "$TMP/lib" -n 'BEGIN { s = strjoin(strjoin(strjoin($$1, $$1), strjoin($$1, $$1)), "x"); printf("%d", strlen(s) * LIB); exit(0); }' "$(printf '%0100d' 7)"
expect "0 401" "$status $(grep . "$TMP/out")" "an option of a library: $err"
printf 'inline int FINE = 1;\n\ninline int BAD = nosuch + 1;\n' >"$TMP/bad/bad.d"
printf 'BEGIN\n{\n\texit(FINE);\n}\n' >"$TMP/s.d"
dt -q -L "$TMP/bad" -s "$TMP/s.d"
expect_match "bad.d\", line 3: .*nosuch" "$err"
printf '\n\n\n\ninline struct task_struct *WHO = curthread;\n' >"$TMP/inline/inline.d"
printf 'BEGIN\n{\n\ttrace((struct mutex)WHO);\n}\n' >"$TMP/s.d"
dt -q -L "$TMP/inline" -s "$TMP/s.d"
expect_match 's.d: line 3: ' "$err"

# profile-N, on every CPU that is busy
all= spinners=
for ((i = 0; i < $(nproc); i++)); do
	taskset -c $i sh -c 'while :; do :; done' &
	spinners+=" $!"
	all+="${all:+ && }seen[$i]"
done
at_end "kill$spinners 2>/dev/null"
ktrace -q -n "int seen[int]; profile-97 { seen[cpu] = 1; } tick-97 /$all/ { exit(0); }"
expect "0 " "$status $err" profile
kill $spinners
wait

# dtrace -lvn lockstat:::adaptive-acquire
if "$DTRACE" -ln fbt::mutex_lock:entry >/dev/null 2>&1; then
	"$DTRACE" -lvn lockstat:::adaptive-acquire >"$TMP/out" 2>&1
	expect "lockstat vmlinux mutex_lock adaptive-acquire" "$(awk '$2 == "lockstat" { print $2, $3, $4, $5; exit }' "$TMP/out")"
	expect "Evolving Evolving ISA" "$(sed -n '/Argument Attributes/,/Argument Types/s/.*: *//p' "$TMP/out" | head -n 3 | xargs)"
	expect_match 'args\[0\]: struct mutex \*' "$(cat "$TMP/out")"
else
	"$DTRACE" -lvn lockstat:::adaptive-acquire >"$TMP/out" 2>&1
	expect_match 'needs tracing of the kernel function mutex_lock' "$(cat "$TMP/out")"
fi
