# A script of a thousand clauses loads; strings of 4 KiB work; a thousand speculations too.
. "$SRC/test/bpf/lib.bash"
{ echo 'int x;'; for i in $(seq 1000); do echo "BEGIN /x >= 0/ { x = x + $i; s = lltostr(x); }"; done; echo 'BEGIN { printf("%d %s\n", x, s); exit(0); }'; } >"$TMP/big.d"
k -qs "$TMP/big.d"
expect '500500 500500' "$(sed '/^$/d' "$TMP/out")"
k -q -x strsize=4096 -n 'BEGIN { s = strjoin("abc", "def"); t[s, 1] = s; self->u = t["abcdef", 1]; printf("%s %d\n", substr(self->u, 2), strlen(s)); exit(0); }'
expect 'cdef 6' "$(sed '/^$/d' "$TMP/out")"
k -q -x nspec=1000 -n 'syscall::getppid:entry /pid == $target/ { self->s = speculation(); }
syscall::getppid:entry /self->s/ { speculate(self->s); printf("%d\n", self->n++); }
syscall::getppid:return /self->s && self->n % 2/ { commit(self->s); self->s = 0; }
syscall::getppid:return /self->s/ { discard(self->s); self->s = 0; }' -c "$work 2000 2"
expect 2000 "$(grep -c . "$TMP/out")" "committed records"
expect '' "$err"
