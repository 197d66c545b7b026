# The advice of the message works as it is printed, in place and installed: with capabilities of its file an ordinary user's
# dtrace traces. What that user's other programs name (a library path, argv[0], a directory of D libraries) is not believed.
# needs: root nobody bpf gcc setcap make
. "$SRC/test/lib.bash"
! sanitized || skip "sanitizers do not work in programs that have capabilities of their own"
chmod 755 "$TMP"
export LC_ALL=C
nobody() { setpriv --reuid=nobody --regid=nogroup --clear-groups "$@"; }
mkdir "$TMP/place"
cp "$DTRACE" "$TMP/place/dtrace"
ln -s "$SRC/lib" "$TMP/place/lib"
(cd "$SRC" && make -s -o all BUILD="$BUILD" PREFIX="$TMP/prefix" install) >"$TMP/out" 2>&1 || cat "$TMP/out"
mv "$TMP/prefix" "$TMP/our prefix" # it works wherever it is
cat >"$TMP/prog.c" <<'EOF'
#include <unistd.h>
__attribute__((noinline)) int work(int n) { return n + 1; }
int main(void)
{
	int s = 0;

	for (int i = 0; i < 100; i++) {
		s = work(s);
		getppid();
	}
	return s != 100;
}
EOF
gcc -O0 -o "$TMP/prog" "$TMP/prog.c" || exit 1

# give DTRACE: do as the message says
give() {
	local said advice
	said=$(nobody "$1" -qn 'profile-97 { exit(0); }' 2>&1)
	advice=$(sed -n 's/.*(sudo \(setcap [^)]*\)).*/\1/p' <<<"$said")
	case $said in *nosuid*) skip "$TMP is mounted with nosuid" ;; esac
	expect_match 'setcap cap_bpf,cap_perfmon\+ep .*/dtrace' "$advice"
	said=$(eval "$advice" 2>&1) || case $said in
	*"not supported"*) skip "the file system of $TMP has no capabilities of files" ;;
	*) echo "$said"; count_failure ;;
	esac
}
for command in "$TMP/place/dtrace" "$TMP/our prefix/sbin/dtrace"; do
	give "$command"
	expect "work 100
getppid 100
EINVAL 22" "$(nobody "$command" -q -c "$TMP/prog" -n '
		pid$target::work:entry { @a = count(); }
		syscall::getppid:entry /pid == $target/ { @b = count(); }
		END { printa("work %@d\n", @a); printa("getppid %@d\n", @b); printf("EINVAL %d", EINVAL); }' 2>&1)" "$command"
	# what it runs, and what it writes, is the user's own
	expect "CapEff: 0000000000000000" "$(nobody "$command" -qwn 'BEGIN { system("grep CapEff: /proc/self/status"); exit(0); }' 2>&1 | grep . | tr '\t' ' ')"
	expect "CapEff: 0000000000000000" "$(nobody "$command" -q -c 'grep CapEff: /proc/self/status' -n BEGIN 2>&1 | grep . | tr '\t' ' ')"
	rm -f "$TMP/roots"
	nobody "$command" -qo "$TMP/roots" -n 'BEGIN { exit(0); }' 2>/dev/null
	expect 1 "$?"
	[ ! -e "$TMP/roots" ] || { echo "wrote into root's directory"; count_failure; }
done
# only the members of a group, as doc/packages.md says
chgrp daemon "$command" && chmod 750 "$command" && setcap cap_bpf,cap_perfmon+ep "$command"
count='syscall::getppid:entry /pid == $target/ { @ = count(); } END { printa("%@d", @); }'
expect 100 "$(setpriv --reuid=nobody --regid=nogroup --groups=daemon "$command" -q -c "$TMP/prog" -n "$count" 2>&1 | grep .)" "a member"
nobody sh -c '"$0" -V' "$command" >/dev/null 2>&1 # setpriv itself can still run anything
expect 126 "$?" "not a member"
# a name for itself, and a directory of D libraries where that points
mkdir -p "$TMP/evil/lib"
echo 'inline int EINVAL = 7;' >"$TMP/evil/lib/errno.d"
: >"$TMP/evil/dtrace"
expect 22 "$(cd "$TMP/evil" && bash -c "exec -a dtrace '$DTRACE' -qn 'BEGIN { trace(EINVAL); exit(0); }'" | grep .)"
# a process that can gain no privilege is not told to try
said=$(nobody --no-new-privs "$DTRACE" -qn 'profile-97 { exit(0); }' 2>&1)
expect_match 'CAP_BPF and CAP_PERFMON .*no_new_privs' "$said"
expect 0 "$(grep -c 'sudo setcap' <<<"$said")"
