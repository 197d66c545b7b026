# The command dwatch, its words and flags, the program that it generates, and arguments that try to become D.
# needs: root bpf btf gcc python3
. "$SRC/test/lib.bash"
. "$SRC/test/cmd/dwatch.bash"
export DWATCH_PROFILES_PATH=$TMP/profiles
mkdir "$TMP/profiles"

dw() { "$DWATCH" "$@" >out 2>err </dev/null; status=$?; out=$(cat out) err=$(cat err); }
# A program of a name of its own, which runs others.
me=dw$$
printf '#!/bin/sh\n/bin/echo a "b  c" >/dev/null\n/bin/true 1 2 3 4\nexit 0\n' >$me
printf '#!/bin/sh\n:\n' >last$me
chmod +x $me last$me
run() { ./$me & last=$!; wait $last; }
date='[0-9]{4} [A-Z][a-z]{2} +[0-9]+ [0-9:]{8}'

# the line of FreeBSD's dwatch
begin -k $me -N 2 execve
run
finish
expect "INFO Watching 'syscall::execve:entry' ..." "$err"
expect_match "^$date 0\.0 $me\[[0-9]+\]: /bin/echo a b  c\$" "$out"
expect_match "^$date 0\.0 $me\[[0-9]+\]: /bin/true 1 2 3 4\$" "$out"
expect "0 2" "$status $(wc -l <out)"

# -B, and -z by the arguments of the process; a profile of the user's with a setting
begin -B 3 -N 1 -k true -z '^/bin/true 1 2 3 4$' exec-success
run
finish
expect "INFO Watching 'proc:vmlinux::exec-success' ..." "$err"
expect_match 'true\[[0-9]+\]: /bin/true 1 2$' "$out"

# -R: the tree ends at the process; parents have their arguments while they run
begin -R -N 1 -k true -z '^/bin/true 1 2 3 4$' proc:::exec-success
printf '#!/bin/sh\n./%s\n:\n' $me >up$me
chmod +x up$me
./up$me some words
finish
expect 5 "$(wc -l <out)"
expect_match '^ -\+= [0-9]{5,} 0\.0 ' "$out"
expect_match '^    \\-\+= [0-9]{5,} 0\.0 /bin/true 1 2 3 4$' "$out"

# filters: what is selected comes, and nothing else. A program that calls getppid() so often
gcc -x c -o py$me - <<'C' || exit 1
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	for (int i = 0; argc > 1 && i < atoi(argv[1]); i++)
		getppid();
	return 0;
}
C
marks() { ./py$me "$@"; }
begin -k py$me -N 3 -x -t 'this->n = 1, pid != 1' -E 'printf("%d %s", 6 * 7, probefunc)' getppid
marks 3
finish
expect "3 3" "$(wc -l <out) $(grep -cE "py$me\[[0-9]+\]: <[0-9]+> 42 getppid\$" out)"
for k in "*$me" "py*" "*${me#d}" "*${me:1:3}*" "*"; do
	begin -k "$k" -t 'execname == $$1' -N 2 getppid py$me
	marks 2
	finish
	expect 2 "$(wc -l <out)" "-k $k"
done
for f in "-k nobody$me" "-u 12345" "-g 12345" "-p 1" "-p 1x?" "-r nothing" "-z nothing" "-t 0"; do
	begin $f -E 'printf("unwanted")' -T 1 getppid
	marks 2
	finish
	expect "0 " "$status $out" "$f"
done
begin -u root -g root -k py$me -p '[0-9]+' -r "py$me" -z 'py[^ ]* 2' -N 2 getppid
marks 2
finish
expect 2 "$(wc -l <out)" "-u -g -p -r -z"
begin -F -k py$me -N 2 -o file -f getppid
marks 1
finish
expect_match "\[[0-9]+\]: -> syscall:vmlinux:getppid:entry \.\.\.\$" "$(sed -n 1p file)"
expect_match "\[[0-9]+\]: <- syscall:vmlinux:getppid:return \.\.\.\$" "$(sed -n 2p file)"

# -O: the event is data in the environment
begin -k "$me" -N 2 -O 'printf "%s|%s\n" "$TAG" "$DETAILS" >>commands' execve
printf '#!/bin/sh\n/bin/true "$(/bin/true x)" "\\";touch %s/broken" "$HOME"\nexit 0\n' "$TMP" >$me
HOME='`touch broken`$(touch broken)' ./$me
finish
expect 1 "$(grep -cF '/bin/true  ";touch '"$TMP"'/broken `touch broken`$(touch broken)' commands)" "$(cat commands)"
[ ! -e broken ] || { echo "a command ran"; count_failure; }

# words: functions first, then names, providers, modules; patterns; descriptions as they are
watches() { "$DWATCH" -d "$@" | sed -n '/^$/,/^\//p' | sed '1d;$d' | tr '\n' ' '; }
expect "syscall::read:entry " "$(watches read)"
expect "syscall::open*:entry " "$(watches 'open*')"
expect "proc:::exec-success " "$(watches exec-success)"
expect "tcp::: " "$(watches tcp)"
expect "syscall::read:entry, syscall::write:entry tcp:::send " "$(watches read,write | tr -d '\n')$(watches tcp:::send)"
expect "::read: " "$(watches -f read)"
expect ":::read " "$(watches -n read)"
expect ":read:: " "$(watches -m read)"
expect "read::: " "$(watches -P read)"
dw nosuchthing$$
expect "1 dwatch: no probe matches 'nosuchthing$$'; dwatch -l lists the probes" "$status $err"
"$DWATCH" -l -f -r '^getppid$' >out
expect getppid "$(cat out)"
"$DWATCH" -l syscall::getppid: >out
expect "$("$DTRACE" -ln syscall::getppid: | awk 'NR > 1 { print $2 ":" $3 ":" $4 ":" $5 }' | sort)" "$(cat out)"
"$DWATCH" -lP >out
expect 1 "$(grep -cx syscall out)"

# hostile arguments. Every byte that an argument can have survives in a string constant:
python3 - >all <<'PY'
import sys
sys.stdout.buffer.write(bytes(range(1, 256)) + b'1"2\\n3')
PY
"$DWATCH" -d -k "*$(cat all; echo .)*" BEGIN >all.d
python3 - <<'PY' >trace.d
import re
text = open('all.d', 'rb').read()
lit = re.search(rb'index\(execname, ("(?:[^"\\]|\\[0-7]{3})*")\) >= 0', text).group(1)
import sys
sys.stdout.buffer.write(b'BEGIN { printf("%s", ' + lit + b'); exit(0); }')
PY
"$DTRACE" -x strsize=1k -x engine=vm -x rawoutput -q -s trace.d >got
{ cat all; printf .; } >want
printf "\n" >>want # at the end of quiet output
cmp want got || count_failure
LC_ALL=C grep -q '[^ -~	]' all.d && { echo "bytes that are not plain text in the program"; count_failure; }
"$DTRACE" -e -s all.d || count_failure
# none of these becomes D, in whatever flag that takes a text
for bad in '"; exit(3); "' '" || 1 || "' '*/ BEGIN { exit(3); } /*' "x
BEGIN { exit(3); }" '$target' '\" || 1' '1) / { exit(3); } / (1' '%s%n' "'"; do
	dw -d -k "$bad" BEGIN
	expect "0" "$status" "-k $bad"
	printf '%s\n' "$out" >p.d
	expect 3 "$(grep -cE '^(BEGIN|:::BEGIN|dtrace:::BEGIN)|^/|^}' p.d)" "$out"
	"$DTRACE" -e -s p.d || { echo "-k $bad"; count_failure; }
	for flag in -u -g; do
		dw -d $flag "$bad" BEGIN
		[ "$status" = 1 ] || { echo "$flag $bad: $out"; count_failure; }
	done
	dw -d "$bad"
	[ "$status" = 1 ] || { echo "$bad: $out"; count_failure; }
	dw -d -X "$bad"
	expect 1 "$status" "-X $bad"
	# as a macro argument it is a string
	dw -E 'printf("%s", $$1); exit(0)' BEGIN "$bad"
	expect_match '^0 ' "$status $err"
	expect "$(tr '\n' ' ' <<<"$bad" | sed 's/ $//')" "$(tr '\n' ' ' <out | sed 's/^[^]]*]: //; s/ $//')"
done
# code of the user stays where it is put
for bad in '1) / { } BEGIN / (1' '1 } ' '{' '"' "'" '(1' '1]' '/* 1' '1 // 2' '1; 2'; do
	dw -d -t "$bad" BEGIN
	expect_match "^1 dwatch: -t " "$status $err"
done
for bad in '} BEGIN { exit(3)' '"' 'x(' '/* ' '#pragma D option quiet'; do
	dw -d -E "$bad" BEGIN
	expect_match "^1 dwatch: -E " "$status $err"
done
dw -E 'system("touch broken")' BEGIN
expect_match 'Destructive actions not allowed' "$status $err"
# a process chooses its own name: on output it is one line, without control characters
evil=$'e"\033]0;x\a\n{}$1'
cp last$me "$evil"
begin -k "$evil" -N 1 -T 60 proc:::exit
./"$evil"
finish
expect "1 0" "$(wc -l <out) $(grep -c $'\033' out)"
expect_match 'e"\?\]0;x\?\?\{\}\$1\[[0-9]+\]: ' "$out"
# what -d shows is what runs
"$DWATCH" -d -R -x -u root -k "$evil" -t 'pid > 1' -T 5 -B 2 read,exec-success,execve >p.d
"$DTRACE" -e -s p.d || count_failure

# flags that are wrong
for f in "-B 0" "-B x" "-N -1" "-T 5y" "-T x" "-r (" "-z [" "-f -m" "-X none$me" "-K x"; do
	dw $f BEGIN
	expect_match '^1 dwatch: ' "$status $err"
done
dw
expect_match '^2 usage: dwatch' "$status $err"
dw -V
expect "0 dwatch: Sun D 1.14" "$status $out"
# every flag is in the usage and in the manual page
for f in $(sed -nE "s/^\tcase '(.)':.*/\1/p" "$SRC/cmd/dwatch/flags.c"); do
	"$DWATCH" --help | grep -qE "^  -$f " || { echo "-$f is not in the usage"; count_failure; }
	grep -qE "^\.BI? \\\\-$f( |\$)" "$SRC/doc/dwatch.1" || { echo "-$f is not in the manual"; count_failure; }
done
