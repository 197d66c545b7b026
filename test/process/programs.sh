# The process engine in real programs: every function that can be patched is, entry and return, of the program and all its
# libraries; what the program prints does not change.
# needs: gcc python3
# uses: redis
# timeout: 300
. "$SRC/test/lib.bash"
head -c "$(scale 1000000)" "$DTRACE" >"$TMP/data"
cat >"$TMP/script" <<'EOT'
for i in 1 2 3 4 5 6 7 8; do x=$((i * i)); a[$i]=$x; echo "$i ${a[*]}" | { read y; echo ">$y"; }; done
f() { local n=$1; [ $n -le 1 ] && echo 1 || echo $((n * $(f $((n - 1))))); }
f 6; printf '%s\n' {a..e}{1..3} | sort -r | head -3; trap 'echo bye' EXIT; case abc in a*) echo ok ;; esac
EOT
cat >"$TMP/script.py" <<'EOT'
import json, re, hashlib, threading
def f(n): return n if n < 2 else f(n - 1) + f(n - 2)
r = []
ts = [threading.Thread(target=lambda: r.append(f(12))) for _ in range(4)]
[t.start() for t in ts]; [t.join() for t in ts]
print(r, json.dumps({"a": [1, 2, {"b": None}]}), re.sub("a+", "b", "caaat"), hashlib.md5(b"x" * 1000).hexdigest())
try: 1 / 0
except ZeroDivisionError as e: print(e)
EOT
cat >"$TMP/script.pl" <<'EOT'
my %h; for (1 .. 5000) { $h{$_ % 97} .= chr(65 + $_ % 26); }
print join(",", map { length $h{$_} } sort keys %h), "\n", scalar(`echo hi`);
printf "%.3f %s\n", sin(1), join " ", (sort { $a <=> $b } map { ($_ * 7919) % 1009 } 1 .. 500)[0 .. 9];
EOT
cat >"$TMP/throw.cc" <<'EOT'
#include <cstdio>
#include <stdexcept>
#include <string>
__attribute__((noinline)) int deep(int n) { if (n == 0) throw std::runtime_error("bottom"); std::string s(100, 'a' + n); return deep(n - 1) + (int)s.size(); }
int main() { int caught = 0; for (int i = 0; i < 50; i++) try { deep(i % 20); } catch (std::exception &e) { caught += e.what()[0] == 'b'; } printf("%d\n", caught); }
EOT
python=$(python3 -c 'import os, sys; print(os.path.realpath(sys.executable))') # what is found first may be a script
own_libraries bash xz perl "$python"
same() { # COMMAND
	type "$1" >/dev/null 2>&1 || return
	"$@" >"$TMP/want" 2>/dev/null </dev/null
	rm -f "$TMP/count"
	LD_LIBRARY_PATH="$TMP/lib" "$DTRACE" -Z -x engine=process -x evaltime=postinit -qo "$TMP/count" -n 'pid$target:::entry,pid$target:::return { @ = count(); }' -c "$(printf '%q ' "$@")" \
		>"$TMP/got" 2>"$TMP/err" </dev/null
	expect 0 $? "$*: $(cat "$TMP/err")"
	cmp -s "$TMP/want" "$TMP/got" || { echo "$* prints something else"; count_failure; }
	[ "$(tr -d ' \n' <"$TMP/count")" -gt 100 ] || { echo "$*: nothing fired"; count_failure; }
}
same bash "$TMP/script"
same xz -c -1 "$TMP/data"
cp "$TMP/want" "$TMP/data.xz"
same xz -dc "$TMP/data.xz"
same perl "$TMP/script.pl"
same "$python" "$TMP/script.py"
if type g++ >/dev/null 2>&1; then
	g++ -O1 -o "$TMP/throw" "$TMP/throw.cc"
	same "$TMP/throw"
fi
gcc -O1 -static -o "$TMP/static" -x c - <<<'#include <stdio.h>
int main(void) { char b[64]; for (int i = 0; i < 100; i++) snprintf(b, sizeof b, "%d %s %g", i, "text", i / 7.0); puts(b); }' && same "$TMP/static"

# a server, by what it answers
if [ -x /usr/bin/redis-check-rdb ] && type redis-cli >/dev/null 2>&1; then
	ln -s /usr/bin/redis-check-rdb "$TMP/redis-server" # it is one program, which looks at what it is called
	own_libraries /usr/bin/redis-check-rdb
	for i in $(seq 200); do
		echo "set key$i $i"; echo "incrby key$i 5"; echo "rpush list $i"; echo "zadd z $i m$i"; echo "hset h f$i $i"
	done >"$TMP/commands"
	printf '%s\n' 'lrange list 0 5' 'zrangebyscore z 3 9' 'hgetall h' 'eval "return {1,2,redis.call(\x27get\x27,\x27key7\x27)}" 0' 'sort list limit 0 3 desc' \
		'setbit b 7 1' 'object encoding list' 'pfadd p a b c' 'pfcount p' 'geoadd g 13.36 38.11 x' 'geohash g x' >>"$TMP/commands"
	ask() { redis-cli -s "$TMP/sock" <"$TMP/commands" >"$TMP/$1"; redis-cli -s "$TMP/sock" shutdown nosave >/dev/null 2>&1; }
	serve=(--port 0 --unixsocket "$TMP/sock" --save '' --appendonly no --daemonize no --dir "$TMP")
	up() { redis-cli -s "$TMP/sock" ping >/dev/null 2>&1; }
	"$TMP/redis-server" "${serve[@]}" >/dev/null 2>&1 </dev/null &
	wait_for 30 up
	ask want
	wait $!
	rm -f "$TMP/count" "$TMP/sock"
	LD_LIBRARY_PATH="$TMP/lib" "$DTRACE" -Z -x engine=process -x evaltime=postinit -qo "$TMP/count" -n 'pid$target:::entry,pid$target:::return { @ = count(); }' \
		-c "$(printf '%q ' "$TMP/redis-server" "${serve[@]}")" >/dev/null 2>"$TMP/err" </dev/null &
	wait_for 60 up
	ask got
	wait $!
	expect 0 $? "redis: $(cat "$TMP/err")"
	expect 1 $(($(wc -l <"$TMP/want") > 1400)) "redis: $(wc -l <"$TMP/want") lines"
	cmp "$TMP/want" "$TMP/got" || count_failure
	[ "$(tr -d ' \n' <"$TMP/count")" -gt 10000 ] || { echo "redis: nothing fired"; count_failure; }
fi
