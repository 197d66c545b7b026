# timeout: 60
# Symbolic links in another root directory mean what they mean there: an absolute one does not lead to our files.
# needs: root bpf gcc
. "$SRC/test/lib.bash"
mkdir -p "$TMP/root/usr/lib" "$TMP/root/dbg/.build-id" "$TMP/here"
cat >"$TMP/t.c" <<'END'
#include <unistd.h>
static __attribute__((noinline)) int inner(void) { return getppid(); }
int main(void) { for (int i = 0; i < 1000; i++) { inner(); usleep(10000); } return 0; }
END
gcc -g -O1 -fno-optimize-sibling-calls -static -Wl,--build-id=0x1234567890abcdef1234567890abcdef -o "$TMP/t" "$TMP/t.c" || exit 1
objcopy --only-keep-debug "$TMP/t" "$TMP/t.debug"
strip -o "$TMP/root/t" "$TMP/t"
mkdir "$TMP/root/dbg/.build-id/12" "$TMP/here/.build-id" "$TMP/here/.build-id/12"
file=.build-id/12/34567890abcdef1234567890abcdef.debug
names() {
	chroot "$TMP/root" /t &
	ktrace -q -n 'syscall::getppid:entry /pid == $1 && n++ == 3/ { ustack(); exit(0); }' $!
	kill $!
	wait $! 2>/dev/null
	expect 0 "$status" "$err"
}
cp "$TMP/t.debug" "$TMP/root/dbg/$file"
ln -s /dbg "$TMP/root/usr/lib/debug" # there it is $TMP/root/dbg
names
expect_match 't`getppid' "$out"
# one that means a directory of ours: there is no such one there
rm "$TMP/root/usr/lib/debug"
cp "$TMP/t.debug" "$TMP/here/$file"
ln -s "$TMP/here" "$TMP/root/usr/lib/debug"
names
expect "" "$(grep getppid <<<"$out")" "a link out of its root"
