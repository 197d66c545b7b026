# A script of a thousand clauses loads; strings of 4 KiB work; so do a thousand speculations.
# timeout: 120
# needs: root bpf gcc
. "$SRC/test/lib.bash"
build work engine/work.c -lpthread
{ echo 'int x;'; for i in $(seq 1000); do echo "BEGIN /x >= 0/ { x = x + $i; s = lltostr(x); }"; done; echo 'BEGIN { printf("%d %s\n", x, s); exit(0); }'; } >"$TMP/big.d"
ktrace -qs "$TMP/big.d"
expect '500500 500500' "$(sed '/^$/d' "$TMP/out")"
ktrace -q -x strsize=4096 -n 'BEGIN { s = strjoin("abc", "def"); t[s, 1] = s; self->u = t["abcdef", 1]; printf("%s %d\n", substr(self->u, 2), strlen(s)); exit(0); }'
expect 'cdef 6' "$(sed '/^$/d' "$TMP/out")"
ktrace -q -x nspec=1000 -n 'syscall::getppid:entry /pid == $target/ { self->s = speculation(); }
syscall::getppid:entry /self->s/ { speculate(self->s); printf("%d\n", self->n++); }
syscall::getppid:return /self->s && self->n % 2/ { commit(self->s); self->s = 0; }
syscall::getppid:return /self->s/ { discard(self->s); self->s = 0; }' -c "$TMP/work 2000 2"
expect 2000 "$(grep -c . "$TMP/out")" "committed records"
expect '' "$err"

# (profile-97 and sys_exit fire on every CPU at once: one is enough.)
# All clauses of a firing are one firing, however many programs they become: the time, clause-local variables, strtok().
parts() { # probe
	echo "$1 { this->x = 5; this->n = 0; this->s = \"abc\"; this->t = timestamp; printf(\"%s\", strtok(\"a,b,c\", \",\")); }"
	for i in {1..400}; do echo "$1 { this->n += $i; }"; done
	for i in {1..60}; do echo "$1 { s = strjoin(\"$i\", substr(probename, 1)); }"; done
	echo "$1 { printf(\" %d %s %d %s %d\\n\", this->x, this->s, this->t == timestamp, strtok(NULL, \",\"), this->n); exit(0); }"
	echo "$1 { printf(\"not reached\\n\"); }"
}
for p in BEGIN syscall::getppid:entry 'sdt:::sys_exit /cpu == 0/' tick-10ms 'profile-97 /cpu == 0/' 'pid$target:libc.so*:getppid:entry' 'pid$target:libc.so*:getppid:return'; do
	parts "$p" >"$TMP/parts.d"
	out=$("$DTRACE" -x engine=bpf -qs "$TMP/parts.d" -c "perl -e getppid;sleep(5)" 2>"$TMP/err" | head -n 1)
	expect "a 5 abc 1 b 80200" "$out" "$p: $(head -n 3 "$TMP/err")"
done
# more than the kernel's limit of tail calls
{ echo 'int n; BEGIN { this->x = 5; this->t = timestamp; }'; for i in {1..6000}; do echo "BEGIN { n += $i; }"; done
	echo 'BEGIN { printf("%d %d %d\n", this->x, this->t == timestamp, n); exit(0); }'; } >"$TMP/huge.d"
ktrace -qs "$TMP/huge.d"
expect "5 1 18003000" "$(echo $(cat "$TMP/out"))" "$err"

# fifty arrays with keys of different sizes, in one clause and in a clause each: a program can name 64 maps
keys=(1 '"text"' '1, 2, 3' '"text", tid')
{ echo 'int n; BEGIN {'; for i in {0..49}; do echo "a$i[${keys[i % 4]}] = $i; n += a$i[${keys[i % 4]}];"; done; echo '}'
	for i in {0..49}; do echo "BEGIN { a$i[${keys[i % 4]}] = 0; n += a$i[${keys[i % 4]}]; }"; done
	echo 'BEGIN { printf("%d\n", n); exit(0); }'; } >"$TMP/arrays.d"
ktrace -qs "$TMP/arrays.d"
expect 1225 "$(echo $(cat "$TMP/out"))" "$err"
