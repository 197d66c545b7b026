# uses: fish zsh
# Completion of the command line in bash, fish and zsh: flags, options, providers and probes.
. "$SRC/test/lib.bash"
PATH=$(dirname "$DTRACE"):$PATH

mkdir "$TMP/bin"
printf '#!/bin/sh\n' >"$TMP/bin/readelf-of-test"
chmod +x "$TMP/bin/readelf-of-test"
# a control group of a service of its own, where one can be made
group= service=
mount=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
if [ -n "$mount" ] && mkdir "$mount/dtrace-completion-$$.service" 2>/dev/null; then
	at_end 'rmdir "$mount/dtrace-completion-$$.service"'
	group=/dtrace-completion-$$.service service=dtrace-completion-$$
fi

# bash: words of the line, the last one to be completed
in_bash() {
	bash -c '. "$1"; shift; COMP_WORDS=(dtrace "$@"); COMP_CWORD=$#; _dtrace 2>/dev/null; printf "%s\n" "${COMPREPLY[@]}"' \
		bash "$SRC/completion/dtrace.bash" "$@" | sort -u
}
expect "$("$DTRACE" --help | grep -cE '^  --?[A-Za-z]')" "$(in_bash - | wc -l)" "flags in bash"
expect "$(printf 'aggsortkey\naggsortkeypos')" "$(in_bash -x aggsortk)" "options in bash"
expect "profile:" "$(in_bash -n prof)" "providers in bash"
expect "$(printf 'syscall::getppid:entry\nsyscall::getppid:return')" "$(in_bash -n syscall::getpp)" "probes in bash"
expect "syscall:vmlinux:getppid:entry" "$(in_bash -n syscall:vmlinux:getppid:e)" "probes in bash"
expect "" "$(in_bash -n 'BEGIN { tr')" "inside a clause in bash"

expect "readelf-of-test" "$(PATH=$TMP/bin:$PATH in_bash -W readelf-of)" "commands in bash"
expect "$TMP/bin/" "$(in_bash -L "$TMP/b")/" "directories in bash"
expect "$TMP/bin/readelf-of-test" "$(in_bash --file "$TMP/bin/r")" "files in bash"
expect "$group" "$(in_bash --cgroup "${group:-/none-at-all}")" "groups in bash"
expect "$service" "$(in_bash --container "${service:-none-at-all}")" "containers in bash"

# dwatch: flags, profiles, words
dw_bash() {
	bash -c '. "$1"; shift; COMP_WORDS=(dwatch "$@"); COMP_CWORD=$#; _dwatch 2>/dev/null; printf "%s\n" "${COMPREPLY[@]}"' \
		bash "$SRC/completion/dwatch.bash" "$@" | sort -u
}
expect "$(dwatch --help | grep -cE '^  -[A-Za-z0-9]')" "$(dw_bash - | wc -l)" "flags of dwatch in bash"
expect "$(printf 'systop')" "$(dw_bash -X syst)" "profiles in bash"
expect "$(printf 'getppid')" "$(dw_bash getpp)" "words of dwatch in bash"

if type -P fish >/dev/null; then
	in_fish() { fish --no-config -c 'source $argv[1]; complete -C "$argv[2]"' "$SRC/completion/dtrace.fish" "$1" | cut -f 1 | sort -u; }
	expect "--options" "$(in_fish 'dtrace --opt')" "flags in fish"
	expect "$(printf 'aggsortkey\naggsortkeypos')" "$(in_fish 'dtrace -x aggsortk')" "options in fish"
	expect "$(printf 'syscall::getppid:entry\nsyscall::getppid:return')" "$(in_fish 'dtrace -n syscall::getpp')" "probes in fish"
	expect "readelf-of-test" "$(PATH=$TMP/bin:$PATH in_fish 'dtrace -W readelf-of')" "commands in fish"
	expect "$TMP/bin/readelf-of-test" "$(in_fish "dtrace --file $TMP/bin/r")" "files in fish"
	expect "$TMP/bin/" "$(in_fish "dtrace -L $TMP/b")" "directories in fish"
	expect "$group" "$(in_fish "dtrace --cgroup ${group:-/none-at-all}")" "groups in fish"
	expect "$service" "$(in_fish "dtrace --container ${service:-none-at-all}")" "containers in fish"
	dw_fish() { fish --no-config -c 'source $argv[1]; complete -C "$argv[2]"' "$SRC/completion/dwatch.fish" "$1" | cut -f 1 | sort -u; }
	expect systop "$(dw_fish 'dwatch -X syst')" "profiles in fish"
	expect getppid "$(dw_fish 'dwatch getpp')" "words of dwatch in fish"
fi

# zsh completes only in an interactive shell: one of its own, on a terminal of its own
if type -P zsh >/dev/null; then
	cat >"$TMP/in_zsh" <<'EOF'
# folder of the completion, line, what must appear
zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z "PS1=; fpath=($1 \$fpath); autoload -Uz compinit; compinit -u -D; print -r -- rea''dy"
zpty -r z seen "*ready*"
zpty -w -n z "$2"$'\t'
zpty -r z seen "*$3*"
print -r -- $seen
EOF
	in_zsh() { TERM=xterm timeout 60 zsh -f "$TMP/in_zsh" "$SRC/completion" "$1" "$2"; }
	expect_match 'dtrace -x aggsortkeypos' "$(in_zsh 'dtrace -x aggsortkeyp' aggsortkeypos)"
	expect_match 'dtrace -n profile:' "$(in_zsh 'dtrace -n prof' profile:)"
	expect_match 'dtrace --options' "$(in_zsh 'dtrace --opt' --options)"
	[ -z "$service" ] || expect_match "dtrace --container $service" "$(in_zsh "dtrace --container ${service%?}" "$service")"
	expect_match 'dtrace -W readelf-of-test' "$(PATH=$TMP/bin:$PATH in_zsh 'dtrace -W readelf-of' readelf-of-test)"
	expect_match 'dwatch -X systop' "$(in_zsh 'dwatch -X syst' systop)"
fi
