# bufpolicy fill stops when a buffer is full, ring keeps the newest records.
# needs: root bpf gcc
. "$SRC/test/lib.bash"
build work engine/work.c -lpthread
ktrace -q -x bufpolicy=fill -x bufsize=16k -x statusrate=20ms -n 'syscall::getppid:entry /pid == $target/ { printf("%d\n", ++n); }' -c "$TMP/work 100000 1"
expect 1 "$(sed '/^$/d' "$TMP/out" | head -n 1)"
[ "$(grep -c . "$TMP/out")" -lt $((700 * $(nproc))) ] || expect "what the buffers hold" "$(grep -c . "$TMP/out")"
ktrace -q -x bufpolicy=ring -x bufsize=16k -x switchrate=1ms -n 'syscall::getppid:entry /pid == $target/ { printf("%d\n", ++n); } END { printf("last %d\n", n); }' -c "$TMP/work 3000 1"
expect "last 3000" "$(sed '/^$/d' "$TMP/out" | tail -n 1)"
# Committed speculations are among them, in the order of their commits; the others never are.
ktrace -q -x bufpolicy=ring -x bufsize=16k -x switchrate=1ms -x nspec=4 -n '
	syscall::getppid:entry /pid == $target/ { s = speculation(); n++; }
	syscall::getppid:entry /pid == $target/ { speculate(s); printf("R %d\n", n); }
	syscall::getppid:entry /pid == $target && n % 2/ { commit(s); }
	syscall::getppid:entry /pid == $target && n % 2 == 0/ { discard(s); }
	syscall::getppid:entry /pid == $target/ { printf("then %d\n", n); }
	END { printf("last %d\n", n); }' -c "$TMP/work 3000 1"
expect "R 2999
then 2999
then 3000
last 3000" "$(sed '/^$/d' "$TMP/out" | tail -n 4)"
expect 0 "$(grep -cE '^R [0-9]*[02468]$' "$TMP/out")" "discarded records"
[ "$(grep -c '^R' "$TMP/out")" -lt $((700 * $(nproc))) ] || expect "what the buffers hold" "$(grep -c '^R' "$TMP/out")"
