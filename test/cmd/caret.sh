# On a terminal, an error shows the source line and a caret; colour unless NO_COLOR.
# needs: script
. "$SRC/test/lib.bash"
script -qec true /dev/null >/dev/null 2>&1 </dev/null || skip "needs a terminal"
cd "$TMP" || exit 1
printf 'BEGIN\n{\n\ttrace(1;\n}\n' >a.d
on_tty() { script -qec "$*" /dev/null </dev/null | tr -d '\r'; }
expect "dtrace: failed to compile script a.d: line 3: syntax error: expected ) near \";\"
    3 | 	trace(1;
      | 	       ^" "$(NO_COLOR=1 on_tty "$DTRACE" -s a.d)"
expect_match $'\033\\[1;31m\\^' "$(TERM=xterm on_tty "$DTRACE" -s a.d)"
