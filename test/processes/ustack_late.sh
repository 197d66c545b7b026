# timeout: 200
# Stacks of processes that are not named, of libraries opened during tracing, and of deleted files: complete
# as soon as their tables have been read.
# needs: root bpf btf gcc
. "$SRC/test/lib.bash"
build chain processes/chain.c -fomit-frame-pointer -lpthread -ldl
build libpass.so processes/pass.c -fomit-frame-pointer -shared -fPIC
at_end 'kill $pid 2>/dev/null'

# a process that runs already; not named by -p
"$TMP/chain" loop 1 &
pid=$!
depth=$("$DTRACE" -qn 'syscall::getppid:entry /pid == $target/ { printf("%d\n", ustackdepth); exit(0); }' -p $pid | head -n 1)
expect 1 "$((depth > 13))" "depth with -p: $depth"
trace -qn "syscall::getppid:entry /pid == $pid && ustackdepth == $depth/ { ustack(60); exit(0); }"
expect "0 1" "$status $(grep -c 'chain`main' "$TMP/out")" "another process: $err"
# its file is gone: the kernel still has it
mv "$TMP/chain" "$TMP/gone"
rm "$TMP/gone"
for how in "-p $pid" ""; do
	trace -qn "syscall::getppid:entry /pid == $pid && ustackdepth == $depth/ { printf(\"%d\", ustackdepth); exit(0); }" $how
	expect "0 $depth" "$status $(head -n 1 "$TMP/out")" "deleted $how: $err"
done
# one that starts during tracing, of a new file; a thousand execs of it
kill $pid
wait $pid 2>/dev/null
build chain processes/chain.c -fomit-frame-pointer -O1 -lpthread -ldl
(while :; do "$TMP/chain" plain 1; done) &
pid=$!
trace -qn 'syscall::getppid:entry /execname == "chain" && ustackdepth >= 15/ { ustack(60); exit(0); }'
kill $pid
wait $pid 2>/dev/null
expect "0 1" "$status $(grep -c 'chain`main' "$TMP/out")" "new processes: $err"

# a library opened by the target
export CHAIN_LIBRARY=$TMP/libpass.so
trace -qn 'syscall::getppid:entry /pid == $target && ustackdepth >= 16/ { ustack(60); exit(0); }' -c "$TMP/chain library 100000000"
expect "0 libpass.so\`pass
chain\`through_library
chain\`once
chain\`main" "$status $(sed 's/+0x.*//; s/^ *//' "$TMP/out" | sed -n '/pass$/,/main$/p')" "library: $err"
exit $((fails != 0))
