# Flags of dwatch that choose containers, show errors, permit actions, and say what a word or an output is.
# needs: root bpf btf gcc
. "$SRC/test/lib.bash"
. "$SRC/test/cmd/dwatch.bash"
me=df$$
build $me processes/getppid.c
marks() { ./$me "$1"; }
events() { grep -cE "^[0-9]{4} .* $me\[[0-9]+\]: " out; }

# -E several times, in their order, and from standard input
begin -k $me -N 1 -E 'printf("one ")' -E 'printf("two"); printf(" three")' getppid
marks 1
finish
expect "one two three" "$(sed 's/^[^]]*]: //' out)" "-E -E"
printf 'printf("four %%d",\n\t2 + 2);' >code
: >out >err
timeout 300 "$DWATCH" -k $me -N 1 -E - getppid >out 2>err <code &
watcher=$!
wait_for 60 begun
marks 1
finish
expect "four 4" "$(sed 's/^[^]]*]: //' out)" "-E -"

# -t several times: all of them
begin -k $me -N 1 -t 'pid > 1' -t 'arg0 == arg0' -t 'execname != "x"' getppid
marks 1
finish
expect 1 "$(events)" "-t -t -t"

# an interrupt ends it in order, also one that comes twice, as from timeout(1); what was seen is shown
begin -k $me -E 'printf("seen")' getppid
marks 2
wait_for 20 eval '[ "$(grep -c seen out)" -ge 2 ]'
kill -INT $watcher
finish
expect "0 2" "$status $(events)" "interrupted"

# -e compiles: nothing is traced, nothing is printed
"$DWATCH" -e getppid >out 2>err
expect "0 " "$? $(cat out err)" "-e"
"$DWATCH" -e -t 'nosuchvariable' getppid >out 2>err
expect 1 $? "-e"
expect_match '^dwatch: .*nosuchvariable' "$(cat err)"

# -q: no line INFO. A target that the program ends itself, since there is no line to wait for
timeout 300 "$DWATCH" -q -N 1 -E 'printf("quiet")' BEGIN >out 2>err </dev/null
expect "0 quiet " "$? $(sed 's/^[^]]*]: //' out) $(cat err)" "-q"

# -v: errors at run time are shown with it, and only with it; the event is not
fault='printf("%s", copyinstr(arg0)); printf("unreached")'
for v in "" -v; do
	begin $v -k $me -N 1 -E "$fault" -t 'self->n++ == 0' getppid:vmlinux::nosuch,syscall::getppid:entry
	finish
	expect 1 "$status" "no such probe"
	begin $v -k $me -T 2 -E "$fault" syscall::getppid:entry
	marks 1
	finish
	expect "0 0" "$(grep -c unreached out) $status" "a fault${v:+ with }$v"
	expect "$([ -z "$v" ] || echo 1)" "$(grep -m 1 -o 'invalid address' err | sed 's/.*/1/')" "message${v:+ with }$v: $(cat err)"
done

# -w: destructive actions
begin -w -k $me -N 1 -E 'system("echo ran >ran"); printf("done")' getppid
marks 1
finish
expect "ran" "$(cat ran)" "-w"

# -y: colours although this is not a terminal, and although NO_COLOR is set
begin -y -k $me -N 1 getppid
marks 1
finish
expect 1 "$(grep -c $'\033\[' out)" "-y and NO_COLOR"
unset NO_COLOR
begin -k $me -N 1 getppid
marks 1
finish
expect 0 "$(grep -c $'\033\[' out)" "a file"
begin -y -k $me -N 1 getppid
marks 1
finish
expect 1 "$(grep -c $'\033\[' out)" "-y"
export NO_COLOR=1

# -1 and -K have no effect beyond what is the default; -o - is standard output
begin -1 -K 3 -o - -k $me -N 2 getppid
marks 2
finish
expect "2 0" "$(events) $status" "-1 -K -o -"

# -l with every kind of part
"$DWATCH" -lm -r '^vmlinux$' >out
expect vmlinux "$(cat out)" "-lm"
"$DWATCH" -ln -r '^exec-success$' >out
expect exec-success "$(cat out)" "-ln"
"$DWATCH" -l -r ':getppid:' 'syscall:vmlinux::' >out
expect 2 "$(wc -l <out)" "-l -r"

# -j: the processes of a control group, by its path and by the name of a service
mount=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/self/mounts)
if [ -n "$mount" ] && [ "$(stat -c %i "$mount")" = 1 ] && mkdir "$mount/dw-$$.service" 2>/dev/null; then
	group=$mount/dw-$$.service
	at_end 'rmdir "$group"'
	for j in "/dw-$$.service" "dw-$$"; do
		begin -j "$j" -k $me -N 3 -E 'printf("%s", container)' getppid
		marks 5
		(echo $BASHPID >"$group/cgroup.procs" && exec ./$me 3)
		finish
		expect "3 3" "$(events) $(grep -c "]: dw-$$\$" out)" "-j $j"
	done
	"$DWATCH" -j nosuch$$ getppid >out 2>err
	expect "1 dwatch: no container, service or machine is called \"nosuch$$\"" "$? $(cut -d: -f1,2 err)" "-j nosuch"
else
	echo "no control groups of version 2 for -j"
fi
