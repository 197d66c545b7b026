# Strings of up to 64 KB, in every kind of variable; more is refused at the option.
# needs: root bpf
. "$SRC/test/lib.bash"
echo 'open(F, "a" x ($ARGV[0] - 3) . "end");' >"$TMP/long.pl"
for n in 65536 65535 16385 1000; do
	ktrace -x strsize=64k -q -n 'syscall::openat:entry /pid == $target && strlen(copyinstr(arg1)) > 900/ {
		self->s = copyinstr(arg1); g = self->s; a[1] = g; this->t = a[1];
		printf("%d %d %s\n", strlen(this->t), strlen(strjoin("", g)), substr(self->s, strlen(g) - 3)); exit(0); }' \
		-c "perl $TMP/long.pl $n"
	expect "$n $n end" "$(grep . "$TMP/out")" "$n characters: $err"
done
dt -q -x strsize=64k -n 'BEGIN { s = "abc"; a[s] = strjoin(s, s); printf("%s\n", a["abc"]); exit(0); }'
expect "abcabc" "$(grep . "$TMP/out")" "vm: $err"
dt -x strsize=65537 -n BEGIN
expect 'dtrace: failed to set -x strsize=65537: "65537" is out of range for option "strsize"' "$err"
