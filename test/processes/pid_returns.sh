# Returns: every one is seen and the program is not disturbed: recursion, signals on another stack, coroutines, longjmp, ret that takes
# arguments, threads; one probe at a place, two, two tracers.
# needs: root bpf gcc
# timeout: 180
. "$SRC/test/lib.bash"
build returns processes/returns.c -pthread
n=$(scale 300)
alone=$("$TMP/returns" $n)
# what each function returns how often: leaf: handler, coroutine, leaves, threads; deep: 101, and 4 in the handler
wanted=$(printf '%s\n' "again $n" "deep $((105 * n))" "interrupted $n" "leaf $((7 * n))" "switches $n" "takes $n")
functions='pid$target:a.out:leaf:X,pid$target:a.out:deep:X,pid$target:a.out:takes:X,pid$target:a.out:again:X,pid$target:a.out:interrupted:X,pid$target:a.out:switches:X,pid$target:a.out:leaves:X'
counts() { awk 'NF == 2 && $1 ~ /^[a-z]/ { print $1, $2 }' "$1" | sort; }

trace -qn "${functions//X/return} { @[probefunc] = count(); }" -c "$TMP/returns $n"
expect "$wanted" "$(counts "$TMP/out")" "$err"
expect "$alone" "$(grep -E '^-?[0-9]+ [0-9]+$' "$TMP/out")"
expect "" "$err"

# what they return, and from where: the values of leaf and again, the stack of the innermost
trace -qn 'pid$target:a.out:leaf:return { @[probefunc] = sum(arg1 - 1); } pid$target:a.out:again:return { @[probefunc] = sum(arg1 - 2); }
	pid$target:a.out:deep:return /arg1 == 0/ { @top[ufunc(ustackdepth > 0 ? uregs[R_PC] : 0)] = count(); }' -c "$TMP/returns 10"
expect "again 45" "$(counts "$TMP/out" | grep again)" "$err"
expect "leaf $((10 * 6 + 10 * 1 + 45 + 4 * 45))" "$(counts "$TMP/out" | grep '^leaf')" "$err"
expect_match 'deep +20$' "$out" "$err"

# two probes at one place: the return, and the instruction
ret=$(objdump -d --no-show-raw-insn "$TMP/returns" | awk '/<leaf>:/ { on = 1; next } on && NF == 0 { exit } on && $2 == "ret" { print $1 }' | tr -d :)
start=$(nm "$TMP/returns" | awk '$3 == "leaf" { print $1 }')
at=$(printf '%x' $((0x$ret - 0x$start)))
trace -qn "pid\$target:a.out:leaf:return, pid\$target:a.out:leaf:$at { @[probename, ufunc(uregs[R_PC])] = count(); }" -c "$TMP/returns $n"
expect "$alone" "$(grep -E '^-?[0-9]+ [0-9]+$' "$TMP/out")"
expect "$(printf '%s\n' "$at returns\`leaf $((7 * n))" "return returns\`leaf $((7 * n))")" "$(awk 'NF == 3 && /leaf/ { print $1, $2, $3 }' "$TMP/out" | sort)" "$err"

# two tracers
: >"$TMP/all.out"
"$DTRACE" -qn "pid*:$TMP/returns:leaf:return { @[ufunc(uregs[R_PC])] = count(); } BEGIN { printf(\"on\n\"); }" >"$TMP/all.out" 2>"$TMP/all.err" </dev/null &
all=$!
at_end "kill -TERM $all 2>/dev/null"
wait_for 60 grep -q on "$TMP/all.out"
trace -qn "${functions//X/return} { @[probefunc] = count(); }" -c "$TMP/returns $n"
expect "$wanted" "$(counts "$TMP/out")" "$err"
expect "$alone" "$(grep -E '^-?[0-9]+ [0-9]+$' "$TMP/out")"
kill -TERM $all
wait $all
expect "returns\`leaf $((7 * n))" "$(awk '/leaf/ { print $1, $2 }' "$TMP/all.out")" "$(cat "$TMP/all.err")"

# -lv says where they are and who executes them; on other CPUs that is always the kernel
[ "$HOSTTYPE" = x86_64 ] || exit 0
trace -lvn 'pid$target:a.out:takes:return' -c "$TMP/returns 1"
expect_match "Places
		9: ret .*0x10 \(carried out by the probe, from Linux 6.19; otherwise single-stepped\)" "$out" "$err"
trace -x uretprobe -lvn 'pid$target:a.out:takes:return' -c "$TMP/returns 1"
expect_match 'a return address that is changed at the entry' "$out" "$err"
