# timeout: 200
# ustack(), ucaller, ustackdepth and uregs[] mean the same at every kind of probe: system calls, tracepoints, the clock
# in user code and inside the kernel, functions of the program.
# needs: root bpf btf gcc
# uses: python3
. "$SRC/test/lib.bash"
build chain processes/chain.c -fomit-frame-pointer -lpthread -ldl
bottom="main _start"
# bottoms PATTERN: of the stacks that have a line like that, main and the last frame, each pair once
bottoms() {
	awk -v want="$1" '
		function finish() { if (n && hit) print m, last; n = hit = 0; m = "-" }
		/`|^ +0x/ { n++; f = $1; sub(/.*`/, "", f); sub(/\+0x.*/, "", f); if (f == "main") m = f; last = f; if ($0 ~ want) hit = 1; next }
		{ finish() } END { finish() }' "$TMP/out" | sort -u
}

# registers, exactly; those that functions preserve, two arguments, what says that it is user code
case $HOSTTYPE in
x86_64) regs='uregs[R_RBX], uregs[R_R12], uregs[R_R13], uregs[R_R14], uregs[R_R15]' args='uregs[R_RDI], uregs[R_RSI]' mode='uregs[R_CS] & 3' user=3 getppid=110 ;;
*) regs='uregs[R_X19], uregs[R_X20], uregs[R_X21], uregs[R_X22], uregs[R_X23]' args='uregs[R_ORIG_X0], uregs[R_X1]' mode='uregs[R_PSTATE] & 15' user=0 getppid=173 ;;
esac
trace -qn "syscall::getppid:entry, syscall::getppid:return /pid == \$target/ { printf(\"%x %x %x %x %x %x %x\\n\", $regs, $args); }" \
	-c "$TMP/chain regs 1"
expect "3333 cccc dddd eeee ffff 5555 4444
3333 cccc dddd eeee ffff 5555 4444" "$(cat "$TMP/out")" "system call"
trace -qn "profile-499 /pid == \$target && ${regs%%,*} == 0x3333/ { printf(\"%x %x %x %x %x %d %d\", $regs, arg1 == 0 || uregs[R_PC] == arg1, $mode); exit(0); }" \
	-c "$TMP/chain spin 1"
expect "3333 cccc dddd eeee ffff 1 $user" "$(head -n 1 "$TMP/out")" "clock: $err"

# the clock, in user code: every sample in the chain goes down to the start of the program
trace -qn 'profile-499 /pid == $target && arg1/ { @[ustack(60)] = count(); }' -c "$TMP/chain busy 200"
expect "$bottom" "$(bottoms 'chain`(last|work)')" "clock in user code: $err"
# in the vDSO, if a sample hits it; that of aarch64 has no tables, so callers need frame pointers (doc/aarch64.md)
[ "$HOSTTYPE" = x86_64 ] || build chain processes/chain.c -fno-omit-frame-pointer -lpthread -ldl
trace -qn 'profile-499 /pid == $target && arg1/ { @[ustack(60)] = count(); }' -c "$TMP/chain clock 3"
expect "$bottom" "$(bottoms 'vdso.*`' | grep . || echo "$bottom")" "vDSO"
[ "$HOSTTYPE" = x86_64 ] || build chain processes/chain.c -fomit-frame-pointer -lpthread -ldl
# inside the kernel
trace -qn 'profile-499 /pid == $target && arg0/ { @[ustack(60)] = count(); }' -c "$TMP/chain plain 300000"
expect "$bottom" "$(bottoms 'chain`link5' | grep . || echo "$bottom")" "clock in the kernel"

# a tracepoint: the same frames as at the system call
trace -qn 'sdt:::sys_enter /pid == $target && args[1] == '$getppid'/ { printf("%d %A ", ustackdepth, ucaller); ustack(60); }
	syscall::getppid:entry /pid == $target/ { printf("%d %A ", ustackdepth, ucaller); ustack(60); }' -c "$TMP/chain plain 1"
if [ "$status" = 0 ]; then
	half=$(($(wc -l <"$TMP/out") / 2))
	expect "$(head -n $half "$TMP/out")" "$(tail -n +$((half + 1)) "$TMP/out" | head -n $half)" "tracepoint"
	expect 2 "$(grep -c 'chain`_start' "$TMP/out")" "tracepoint"
fi

# a function of the program, at its first instruction and at its end; return probes of all functions on the way
# have put their own addresses on the stack
if trace -qn 'pid$target:chain:last:entry { exit(0); }' -c "$TMP/chain plain 1" && [ "$status" = 0 ]; then
	want="last link9 link8 link7 link6 link5 link4 link3 link2 link1 once main"
	for name in entry return; do
		trace -qn "pid\$target:chain:last:$name { ustack(60); printf(\"%A %d\\n\", ucaller, ustackdepth); }
			pid\$target:chain:link*:return { @n = count(); }" -c "$TMP/chain plain 1"
		expect "$want" "$(grep '`' "$TMP/out" | grep -v 'chain`.* [0-9]*$' | sed 's/.*`//; s/+0x.*//' | tr '\n' ' ' | sed 's/ main .*/ main/')" "pid, $name: $err"
		expect_match '^ +9$' "$out"
	done
fi

# scripts and interpreters down to their start
for cmd in "bash -c 'for ((i = 0; i < 300000; i++)); do :; done'" "python3 -c 'sum(i * i for i in range(3000000))'"; do
	command -v "${cmd%% *}" >/dev/null || continue
	trace -qn 'profile-499 /pid == $target && arg1/ { @[ustack(120)] = count(); }' -c "$cmd"
	grep -qE '`(main|__libc_start_main)' "$TMP/out" || { echo "${cmd%% *}: no main: $out" | head -n 60; fails=1; }
done
exit $((fails != 0))
