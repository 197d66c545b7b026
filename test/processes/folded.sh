# needs: root bpf btf gcc python3
# timeout: 200
# User stacks in the formats about stacks: forked processes meet, frames without a symbol are a place in their file, records
# with stacks count, the kernel's frames are above the user's; pprof agrees with folded.
. "$SRC/test/lib.bash"
build chain processes/chain.c -fomit-frame-pointer -lpthread -ldl
CHAIN='chain`main;chain`once;chain`link1;chain`link2;chain`link3;chain`link4;chain`link5;chain`link6;chain`link7;chain`link8;chain`link9;chain`last'

# folded HOW N KEYS: stacks of getppid(), without what libc calls main by
folded() { trace -x oformat=folded -n 'syscall::getppid:entry /progenyof($target)/ { @['"$3"'] = count(); }' -c "$TMP/chain $1 $2"; }

folded fork 3 'ustack(60)'
expect "$CHAIN 3" "$(sed 's/.*;chain`main;/chain`main;/; s/;libc[^;]*`getppid / /; s/;libc.*`__getppid / /' "$TMP/out")" "fork: $err"
folded plain 5 'stack(), ustack(60), execname, 7'
expect_match '^chain;7;.*;chain`main;.*;chain`last;libc[^;]*`_*getppid(;vmlinux`[^;]*)* 5$' "$out"
folded nocfi 2 'ustack(60)'
expect 2 "$(total .)" "nocfi"

# stripped: every frame of the program is a place in it, and that is the same in both processes
cp "$TMP/chain" "$TMP/bare" && strip "$TMP/bare"
trace -x oformat=folded -n 'syscall::getppid:entry /progenyof($target)/ { @[ustack(60)] = count(); }' -c "$TMP/bare fork 2"
expect 1 "$(lines .)" "stripped: one stack"
expect_match ';bare\+0x[0-9a-f]+;(.*;)?bare\+0x[0-9a-f]+;libc[^;]*getppid 2$' "$out"

# records with stacks
trace -x oformat=folded -n 'syscall::getppid:entry /pid == $target/ { trace(execname); ustack(2); }' -c "$TMP/chain plain 4"
expect_match '^chain;chain`last;libc[^;]*`_*getppid 4$' "$out"

# pprof: the same, with the key as a label
trace -x oformat=pprof -o "$TMP/profile" -n 'syscall::getppid:entry /pid == $target/ { @[ustack(60), execname] = count(); }' -c "$TMP/chain plain 5"
expect_match '`main;chain`once;.*;chain`last;libc[^;]*`_*getppid execname=chain 5$' "$(python3 "$SRC/test/format/lib/pprof.py" "$TMP/profile")"

# the example of the manual, for a second
trace -x oformat=flamegraph -o "$TMP/out.html" -n 'profile-997 { @[stack(), ustack(), execname] = count(); } tick-1s { exit(0); }' -c "$TMP/chain busy 3000"
expect_match '"chain`work"|"chain`last"' "$(grep -o '"chain`[a-z]*"' "$TMP/out.html" | sort -u)" "flame graph: $err"
