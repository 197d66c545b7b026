# fds[], cwd, root and d_path(): names of files, against what /proc/PID/fd says of them.
# timeout: 120
# needs: root bpf btf gcc
. "$SRC/test/lib.bash"
build files engine/files.c
mkdir -p "$TMP/dir/sub"

rm -f "$TMP/got" # -o appends
ktrace -q -o "$TMP/got" -c "$TMP/files $TMP/dir" -n '
	syscall::getpgid:entry /pid == $target/ { printf("%d %s %d %x\n", (int)arg0, fds[arg0].fi_pathname, fds[arg0].fi_offset, fds[arg0].fi_oflags); }'
expect 0 "$status" "$err"
expect "" "$err"
grep . "$TMP/got" >"$TMP/got2"
expect 20 "$(wc -l <"$TMP/got2")" "number of files"
expect "$(cat "$TMP/out")" "$(grep -v '<none>' "$TMP/got2")" "fi_pathname, fi_offset, fi_oflags"
expect "1000 <none> 0 0
-1 <none> 0 0" "$(grep '<none>' "$TMP/got2")" "no such file"

# ---- the parts of a path ----
grep -q "$TMP/dir/0*/0*1/0*2 " "$TMP/out" || { echo "no path of several directories"; fails=1; }
rm -f "$TMP/got"
ktrace -q -o "$TMP/got" -c "$TMP/files $TMP/dir" -n '
	syscall::getpgid:entry /pid == $target/ { printf("%s|%s|%s|%s|%s\n", fds[arg0].fi_dirname, fds[arg0].fi_name, fds[arg0].fi_fs, fds[arg0].fi_mount, fds[arg0].fi_pathname); }
	syscall::getsid:entry /pid == $target/ { printf("cwd %s root %s\n", cwd, root); }'
expect "" "$err"
base=$("$DTRACE" -qn 'BEGIN { printf("%s", root == "/" ? "" : root); exit(0); }') # guests are in a chroot()
fs=$(stat -f -c %T "$TMP" | sed 's/^ext2.*/ext4/; s/overlayfs/overlay/')
# A file system that is mounted above the root of a chroot() is not listed there.
id=$(sed -n 's/^mnt_id:[[:blank:]]*//p' /proc/self/fdinfo/9 9<"$TMP")
mount=$(awk -v id="$id" '$1 == id { print $5 }' /proc/self/mountinfo)
[ -n "$mount" ] && mount=$base${mount%/} || mount=$(awk -F'|' -v root="$base/" '/plain/ { if (index(root, $4) == 1) print $4; exit }' "$TMP/got")
expect "$TMP/dir|plain|$fs|${mount:-/}|$TMP/dir/plain" "$(grep -m 1 plain "$TMP/got")" "a file"
expect "$TMP/dir|gone|$fs|${mount:-/}|$TMP/dir/gone (deleted)" "$(grep gone "$TMP/got")" "one that has been deleted"
expect "/dev|null|devtmpfs|$base/dev|/dev/null" "$(grep /null "$TMP/got")" "on another file system"
expect 2 "$(grep -c '^\.|pipe:\[[0-9]*\]|pipefs|' "$TMP/got")" "pipes"
expect "<none>|<none>|<none>|<none>|<none>" "$(grep -m 1 none "$TMP/got")" "no such file"
expect "/|/| /|/|" "$(grep '^/|/|' "$TMP/got" | cut -c 1-4 | xargs)" "the root directory, also in a jail"
expect "cwd / root $base$TMP/dir/jail" "$(grep ^cwd "$TMP/got")" "cwd and root in a jail"

# ---- as keys and in predicates; with a short strsize the end is cut off ----
ktrace -q -c "$TMP/files $TMP/dir" -n '
	syscall::getpgid:entry /pid == $target && fds[arg0].fi_name == "plain"/ { @[fds[arg0].fi_pathname] = count(); }
	END { printa("%s %@d\n", @); }'
expect "$TMP/dir/plain 2" "$(grep 'plain 2' "$TMP/out")" "key and predicate"
rm -f "$TMP/got"
ktrace -q -x strsize=32 -o "$TMP/got" -c "$TMP/files $TMP/dir" -n 'syscall::getpgid:entry /pid == $target/ { printf("%s\n", fds[arg0].fi_pathname); }'
expect "" "$err"
expect "$(printf '%.32s' "$TMP/dir/plain")" "$(grep -m 1 . "$TMP/got")" "strsize"

# ---- directly ----
cd "$TMP/dir/sub" || exit 1
ktrace -q -n 'BEGIN { printf("%s\n%s\n", cwd, d_path(&curthread->fs->pwd)); exit(0); }'
expect "$TMP/dir/sub
$TMP/dir/sub" "$(grep . "$TMP/out")" "of dtrace itself"
ktrace -q -n 'BEGIN { trace(d_path((struct path *)8)); exit(0); }'
expect "" "$err" "what is not a path"
