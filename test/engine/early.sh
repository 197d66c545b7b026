# Predicates that are tested before a slot is claimed: what they let pass, alone and with other clauses.
# needs: root bpf gcc
. "$SRC/test/lib.bash"
build early-of-fifteen engine/work.c -lpthread
n=$(scale 2000)
count() { # predicate, command: how many calls it lets pass
	ktrace -qn "syscall::getppid:entry $1 { @ = count(); } END { printa(\"%@d\", @); }" -c "${2:-$TMP/early-of-fifteen $n 2}"
	expect '0 ' "$status $err" "$1"
	echo "$out"
}
expect $((2 * n)) "$(count '/pid == $target/')"
expect $((2 * n)) "$(count '/pid == $target && arg0 == arg0/')"
expect '' "$(count '/pid == $target && execname == "early"/')"
expect $((2 * n)) "$(count '/execname == "early-of-fiftee" && pid == $target/')"
# longer than any name, a part of it, and nothing: no process has these
for name in early-of-fifteen early-o '' ; do
	expect '' "$(count "/execname == \"$name\"/")" "$name"
done
# names of seven, eight and nine letters: one word or two
for name in letter7 letters8 letterss9; do
	cp "$TMP/early-of-fifteen" "$TMP/$name"
	expect "$n" "$(count "/execname == \"$name\"/" "$TMP/$name $n")" "$name"
done
# arguments, once the probe is known
expect 2 "$(count '/arg0 == 5 && pid == $target/')"
expect 2 "$(count '/arg0 == 0 && pid == $target/')"
expect '' "$(count '/arg0 == -1 && pid == $target/')"
expect 4 "$(count '/(arg0 == 1 || arg0 == 2) && pid == $target/')"
ktrace -qn 'syscall::getppid:entry /arg0 == 3 && pid == $target/ { @a = count(); }
syscall::getppid:entry /pid == $target/ { @b = count(); } syscall::exit_group:entry /arg0 == 0 && pid == $target/ { @c = count(); }
END { printa("%@d ", @a); printa("%@d ", @b); printa("%@d", @c); }' -c "$TMP/early-of-fifteen $n"
expect "1 $n 1" "$(printf %s "$out")"
# several clauses: each is let pass by its own
ktrace -qn 'syscall::getppid:entry /pid == 1 && execname == "nothing"/ { @a = count(); }
syscall::getppid:entry /execname == "early-of-fiftee" && pid == $target/ { @b = count(); }
syscall::getppid:entry /pid == $target/ { @c = count(); }
END { printa("%@d ", @a); printa("%@d ", @b); printa("%@d", @c); }' -c "$TMP/early-of-fifteen $n"
expect "$n $n" "$(printf %s "$out")"
# one that is not such a test: all of them run
ktrace -qn 'syscall::getppid:entry /pid == 1 && execname == "nothing"/ { @a = count(); }
syscall::getppid:entry /pid != 1 && pid == $target/ { @c = count(); }
END { printa("%@d", @c); }' -c "$TMP/early-of-fifteen $n"
expect "$n" "$(printf %s "$out")"
