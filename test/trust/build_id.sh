# timeout: 120
# needs: root nobody bpf gcc
# Anyone can give a file the build id of another: that does not make its functions those of the other one.
. ./lib.bash
make_file buildid honest.so honest_function
make_file buildid forged.so forged_function
start run "$THEIRS/forged.so"
forged=$pid
start run "$THEIRS/honest.so"
trace -qn 'syscall::getppid:entry /pid == $1 || pid == $2/ { @[ustack()] = count(); } tick-1s { exit(0); }' "$pid" "$forged"
cheap "two files of one build id"
expect "forged.so\`forged_function+$BACK honest.so\`honest_function+$BACK" "$(grep -oE '(honest|forged).so`.*' "$TMP/out" | sort -u | tr '\n' ' ' | sed 's/ $//')"
