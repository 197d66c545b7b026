# D libraries: what is not a file, what others can write, and what would allow destructive actions is refused in one line.
. "$SRC/test/lib.bash"
mkdir "$TMP/lib"
lib=$TMP/lib/mine.d
# refused WANT: a program with -L says this
refused() {
	timeout 20 "$DTRACE" -x engine=vm -L "$TMP/lib" -qn 'BEGIN { exit(0); }' >"$TMP/out" 2>"$TMP/err" </dev/null
	expect "1 $1" "$? $(cat "$TMP/err")"
	rm -rf "$lib"
}
head='dtrace: invalid probe specifier BEGIN { exit(0); }:'

mkfifo "$lib"
refused "$head failed to open library \"$lib\": not a regular file"
ln -s /dev/zero "$lib"
refused "$head failed to open library \"$lib\": not a regular file"
truncate -s 200G "$lib"
refused "$head failed to open library \"$lib\": larger than 16 MB"
echo 'inline int x = 1;' >"$lib"
chmod 666 "$lib"
refused "$head failed to read library \"$lib\": every user can write it"
echo 'inline int x = 1;' >"$lib"
chmod 777 "$TMP/lib"
refused "$head failed to read library \"$lib\": every user can write its directory"
chmod 755 "$TMP/lib"
printf '#pragma D option destructive\n' >"$lib"
refused "$head \"$lib\", line 1: a library cannot allow destructive actions: the program or -w must"
if [ "$(id -u)" = 0 ]; then
	echo 'inline int x = 1;' >"$lib"
	chown nobody "$lib"
	refused "$head failed to read library \"$lib\": it belongs to a user who is neither root, you, nor the owner of its directory"
fi
echo 'inline int x = 7;' >"$lib"
dt -L "$TMP/lib" -qn 'BEGIN { trace(x); exit(0); }'
expect "0 7" "$status $(echo $out)$err"
