# Every tool has a head as tools/mkman wants it, a page in doc/tools, a test, and is listed in doc/tools/README.md.
. "$SRC/test/lib.bash"
cd "$SRC" || exit 1
expect "" "$(tools/mkman --check)" "heads"
tested=$(sed -nE 's/^[[:blank:]]*(# )?tool ([a-z0-9]+)( .*)?$/\2/p' test/tools/*.sh | sort -u)
for f in tools/*.d; do
	n=$(basename "$f" .d)
	[ -x "$f" ] || { echo "$f is not executable"; count_failure; }
	[ "$(head -n 1 "$f")" = "#!/usr/sbin/dtrace -s" ] || { echo "$f does not begin with #!/usr/sbin/dtrace -s"; count_failure; }
	grep -q '^#pragma D option quiet$' "$f" || { echo "$f is not quiet"; count_failure; }
	awk '/^BEGIN$/ { b = 1 } b && /printf/ { found = 1 } /^}/ { b = 0 } END { exit !found }' "$f" || { echo "$f prints nothing when it begins"; count_failure; }
	grep -qx "$n" <<<"$tested" || { echo "no test in test/tools runs tool $n"; count_failure; }
	[ "$(head -n 1 "doc/tools/$n.md" 2>/dev/null)" = "# $n" ] || { echo "doc/tools/$n.md is missing"; count_failure; continue; }
	grep -q "^\$ dtrace -s $n" "doc/tools/$n.md" || { echo "doc/tools/$n.md has no example"; count_failure; }
done
for f in doc/tools/*.md; do
	n=$(basename "$f" .md)
	[ "$n" = README ] || [ -f "tools/$n.d" ] || { echo "$f is about no tool"; count_failure; }
done
expect "$(tools/mkman --list)" "$(sed -n '/^<!-- tools begin/,/^<!-- tools end/p' doc/tools/README.md | sed '1d;$d')" "tools/mkman --update"
