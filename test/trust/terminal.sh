# timeout: 120
# needs: root nobody bpf gcc
# Names that a process chooses (its own, of files, functions and objects) do not reach a terminal as commands: in stacks,
# listings never, in strings that the script prints unless it asks for that or prints elsewhere.
. ./lib.bash
command -v script >/dev/null || { echo "needs script"; exit 77; }
ESC=$'\e' NL=$'\n' CSI=$'\xc2\x9b' LONE=$'\x9b' OVERRIDE=$'\xe2\x80\xae' # U+009B, its last byte, U+202E
file="x${ESC}[2J${NL}${CSI}1m.so"
make_file plain "$file" "f${ESC}]0;title${LONE}${OVERRIDE}é"
export HOSTILE_NAME="n${ESC}[31m${CSI}${NL}x"
start run "$THEIRS/$file"
unset HOSTILE_NAME
# controls: the lines of $TMP/out and $TMP/err that hold a control character; a terminal's own line ends do not count
controls() { cat "$TMP/out" "$TMP/err" | tr -d '\r' | LC_ALL=C.UTF-8 grep -cP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80\xae|(?<![\xc3])\x9b' ; }

# always: stacks, listings (messages: test/unit/test_base.c)
trace -qn 'syscall::getppid:entry /pid == $1/ { @[ustack()] = count(); } tick-1s { exit(0); }' "$pid"
cheap stacks
expect_match 'x\?\[2J\?\?\?1m.so`f\?\]0;title\?\?\?\?é\+'$BACK "$out"
expect 0 "$(controls)" "stacks"
trace -ln 'pid$1:x*::entry' "$pid"
cheap listing
expect_match ' +x\?\[2J\?\?\?1m.so +f\?\]0;title\?\?\?\?é entry$' "$out"
expect 0 "$(controls)" "listing"

# strings of the script's choice: raw into a pipe or a file, as in DTrace ...
prog='syscall::getppid:entry /pid == $1/ { printf("\033[1m%s\n", execname); @[execname] = count(); exit(0); }'
trace -qn "$prog" "$pid"
expect_match "${ESC}\[1mn${ESC}\[31m${CSI}" "$out"
# ... and harmless on a terminal, where the format's own escapes stay
on_terminal() { TERM=dumb script -qec "'$DTRACE' -qn '$prog' $* $pid" /dev/null </dev/null | tr -d '\r' >"$TMP/out"; out=$(cat "$TMP/out"); }
on_terminal
expect "${ESC}[1mn?[31m??${NL}x" "$(head -n 2 "$TMP/out")" "on a terminal"
expect 1 "$(grep -c "$ESC" "$TMP/out")" "on a terminal, key"
on_terminal -x rawoutput
expect "${ESC}[1mn${ESC}[31m${CSI}${NL}x" "$(head -n 2 "$TMP/out")" "rawoutput"
