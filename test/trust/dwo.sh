# timeout: 60
# Debug information in separate files (.dwo) is read by the process without privilege, which opens these itself; what they
# contain does no harm. A file of another user cannot name such files.
# needs: root nobody bpf gcc
. "$SRC/test/lib.bash"
chmod 755 "$TMP"
mkdir "$TMP/d"
cat >"$TMP/d/t.c" <<'END'
#include <unistd.h>
struct mine { int a; char b[12]; };
__attribute__((noinline)) int work(struct mine *m) { return getppid() + m->a; }
int main(void) { struct mine m = {7, "seven"}; return work(&m) == 0; }
END
(cd "$TMP/d" && gcc -g -gsplit-dwarf -o t t.c) || exit 1
[ -f "$TMP/d/t.dwo" ] || { echo "the compiler has made no .dwo file"; exit 1; }
cat >"$TMP/ask" <<END
#!/bin/sh
exec "$DTRACE" -q -c "$TMP/d/t" -n 'pid\$target:a.out:work:entry { printf("%d %s\n", args[0]->a, args[0]->b); }'
END
chmod +x "$TMP/ask"
ktrace -q -c "$TMP/ask" -o "$TMP/opened" -n 'syscall::openat:entry /progenyof($target) && strstr(this->f = copyinstr(arg1), ".dwo") != NULL/ { printf("%s %d\n", execname, uid - pid); }'
expect "0 7 seven" "$status $(echo $out)$err"
expect "dtrace-read $((0x80000000))" "$(sort -u "$TMP/opened" | xargs)" "who opens them"

# damaged ones: no types, no more
size=$(stat -c %s "$TMP/d/t.dwo")
cp "$TMP/d/t.dwo" "$TMP/whole"
for at in 0 64 $((size / 3)) $((size / 2)); do
	cp "$TMP/whole" "$TMP/d/t.dwo"
	head -c 64 /dev/urandom | dd of="$TMP/d/t.dwo" bs=1 seek=$at conv=notrunc status=none
	dt -q -c "$TMP/d/t" -n 'BEGIN { printf("%d", sizeof (pid$target`a.out`struct mine)); exit(0); }'
	[ "$status" -le 1 ] || { echo "bytes at $at: status $status: $err"; count_failure; }
done
rm "$TMP/d/t.dwo"
mkfifo "$TMP/d/t.dwo"
cp "$TMP/whole" "$TMP/d/other.dwo"
chown nobody "$TMP/d/t"
dt -q -c "$TMP/d/t" -n 'BEGIN { printf("%d", sizeof (pid$target`a.out`struct mine)); exit(0); }'
expect 1 "$status"
expect_match 'belongs to another user, and a part of its DWARF is in other files' "$err"
