# The priv provider: capabilities asked for, allowed and denied, by a process that is known to want them.
# timeout: 120
# needs: root bpf btf gcc
. "$SRC/test/lib.bash"
if ! "$DTRACE" -lP priv 2>/dev/null | grep -q priv-ok; then
	"$DTRACE" -n 'priv:::priv-ok { exit(0); }' 2>"$TMP/err" && count_failure
	expect_match 'priv:kernel:priv_check:priv-ok needs Linux 6.14 \(tracepoint cap_capable\)' "$(cat "$TMP/err")"
	exit
fi
watch priv
expect "priv kernel priv_check priv-err
priv kernel priv_check priv-ok" "$("$DTRACE" -lP priv | awk 'NR > 1 { print $2, $3, $4, $5 }' | sort)" names
cat >"$TMP/want.c" <<'C'
#define _GNU_SOURCE
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(void)
{
	for (int i = 0; i < 7; i++)
		sethostname("", -1); /* asks for CAP_SYS_ADMIN, then finds the length wrong */
	for (int i = 0; i < 4; i++)
		chroot("/nowhere-at-all");
	syscall(SYS_setresuid, 65534, 65534, 65534);
	for (int i = 0; i < 5; i++)
		sethostname("", -1);
	return 0;
}
C
gcc -O1 -w -o "$TMP/want" "$TMP/want.c" || exit 1
ktrace -q -c "$TMP/want" -n '
	syscall::sethostname:entry,syscall::setresuid:entry { self->in = 1; } syscall::sethostname:return,syscall::setresuid:return { self->in = 0; }
	priv:::priv-ok /pid == $target && self->in && args[0] == CAP_SYS_ADMIN/ { @["ok"] = count(); }
	priv:::priv-ok /pid == $target && self->in && args[0] == CAP_SETUID/ { @["setuid"] = count(); }
	priv:::priv-err /pid == $target && self->in && args[0] == CAP_SYS_ADMIN/ { @["denied"] = count(); }
	END { printa("%s %@d\n", @); }'
expect 0 "$status" "$err"
expect "" "$err"
expect "denied 5
ok 7
setuid 1" "$(grep . "$TMP/out" | sort)" counts
expect "args[0]: int" "$("$DTRACE" -lvn priv:::priv-ok | sed -n 's/^.*\(args\[\)/\1/p')" "-lv"
fired
