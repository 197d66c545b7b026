# -x linktype=dof: -G writes DOF; -x strip: without the comment.
. "$SRC/test/lib.bash"
cd "$TMP" || exit 1
dt -q -G -x linktype=dof -o a -n 'BEGIN { exit(0); }'
dt -q -G -x linktype=dof -x strip -o b -n 'BEGIN { exit(0); }'
grep -qa 'dtrace 1\.[0-9]* (Linux)' a || { echo "no comment"; fails=1; }
grep -qa 'dtrace 1\.[0-9]* (Linux)' b && { echo "a comment"; fails=1; }
expect "$(printf '\177DOF')" "$(head -c 4 b)"
dt -q -G -x linktype=elf -o c -n 'BEGIN { exit(0); }'
expect "$(printf '\177ELF')" "$(head -c 4 c)"
