# Tools about memory and locks print what a known load did.
# needs: root bpf btf gcc
# uses: python3
. "$SRC/test/lib.bash"
. "$SRC/test/tools/lib.bash"
n=30

# the C library allocates for itself as well: of sizes that the load does not use
tool mallocs -- malloc $n
want $((n * 1000)) "$(awk '/`leaks/ { s = 1 } s && /^ *[0-9]+$/ { print $1; exit }' "$TMP/out")" "bytes of leaks()"
want $n "$(sum 2 '^calloc ')"
want $((n * 70)) "$(sum 3 '^calloc ')"
tool memleak -- malloc $n
want "$((n * 1000)) $n" "$(squeezed | awk '$3 ~ /`leaks/ { print $1, $2 }')" "leaks()"
want "0 0" "$(squeezed | awk '$3 ~ /`do_malloc/ { b += $1; p += $2 } END { print b + 0, p + 0 }')" "what was freed"
want $((n * 1000)) "$(sum 1 ' in all$')"

tool brkstack "$name" -- brk $n
want $((n * 65536)) "$(awk '/`sbrk/ { s = 1 } s && /^ *[0-9]+$/ { print $1; exit }' "$TMP/out")" "bytes of sbrk()"
want $((n * 1048576)) "$(awk '/`(__)?mmap/ { s = 1 } s && /^ *[0-9]+$/ { if ($1 > m) m = $1; s = 0 } END { print m + 0 }' "$TMP/out")" "bytes of mmap()"

# faults of the dynamic linker come on top; those of one function are exact
tool faults "$name" 20 -- touch 500
want 500 "$(awk '/`touches/ { s = 1 } s && /^ *[0-9]+$/ { print $1; exit }' "$TMP/out")" "faults of touches()"
[ "$(sum 5 "^$name ")" -ge 500 ] || want "at least 500 pages of zeros" "$(sum 5 "^$name ")" # and those of its start

tool shmsnoop -- shm 5
want 5 "$(rows "^[0-9]+ $name shmget [0-9]+ 0x0 0x3000 0x380\$")"
for call in shmat shmdt shmctl; do want 5 "$(rows "^[0-9]+ $name $call ")" $call; done

tool futexes "$name" -- futex 12
want "12 24" "$(squeezed | awk -v n="$name" '$2 == n { print $4, $6 }')" "waits and wakes"
[ "$(sum 5 "^[0-9]+ $name ")" -ge 12000 ] || want "at least 12000 us" "$(sum 5 "^[0-9]+ $name ")" # no wait ends early

# waits for locks are chance, but the table and what the provider tells beside it are the same
build locks providers/locks.c -lpthread
# (a wait inside another firing, for a lock of the map that it writes to, cannot be recorded; it is counted as a drop)
excused='dtrace: [0-9]+ drops? on CPUs? [0-9,-]+'
tool klockstat -n 'lockstat:::adaptive-block, lockstat:::adaptive-spin, lockstat:::spin-spin, lockstat:::rw-block, lockstat:::rw-spin
	/progenyof($target)/ { @_n["_waits"] = count(); } END { printa("%s %@d\n", @_n); }' -- "$TMP/locks" "$(scale 300)"
excused=
want "$(value _waits)" "$(sum 3 '^(adaptive|spin|rw)-(block|spin) locks ')"
[ "$(value _waits)" -gt 0 ] || [ "$(nproc)" = 1 ] || want "some waits" 0
