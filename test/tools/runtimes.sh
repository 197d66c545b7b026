# Tools about programs that have probes of their own, or known functions.
# timeout: 200
# needs: root bpf btf gcc
# uses: python3 java node postgres redis openssl
. "$SRC/test/lib.bash"
. "$SRC/test/tools/lib.bash"
cd "$TMP" || exit 1

if [ -x /usr/bin/python3 ] && "$DTRACE" -ln 'python$target:::gc-start' -c '/usr/bin/python3 -c 1' >/dev/null 2>&1; then
	# starting and ending collects as well: what 20 collections add
	printf 'import gc, sys\ngc.disable()\nfor i in range(int(sys.argv[1])):\n    gc.collect(i %% 2)\n' >collect.py
	tool pygc -- /usr/bin/python3 -S collect.py 0
	for gen in 0 1; do was[gen]=$(rows "^[0-9]+ $gen [0-9]+ [0-9]+\$"); done
	tool pygc -- /usr/bin/python3 -S collect.py 20
	for gen in 0 1; do
		want $((was[gen] + 10)) "$(rows "^[0-9]+ $gen [0-9]+ [0-9]+\$")" "generation $gen"
		want $((was[gen] + 10)) "$(sum 2 "^$gen [0-9]+ [0-9]+\$")" "summary"
	done
	printf 'def x(): pass\n' >inner_module.py
	printf 'import inner_module\n' >outer_module.py
	printf 'import outer_module\nimport outer_module\ntry:\n    import no_such_module\nexcept ImportError:\n    pass\n' >imports.py
	tool pyimports -- /usr/bin/python3 imports.py
	want 1 "$(rows "^[0-9]+ 1 [0-9]+ outer_module\$")"
	expect 1 "$(grep -cE '^ *[0-9]+ +1 +[0-9]+   inner_module$' out)" "indented"
	want 1 "$(rows "^[0-9]+ 0 [0-9]+ no_such_module\$")"
	if command -v openssl >/dev/null; then
		openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -keyout key.pem -out cert.pem 2>/dev/null
		cat key.pem cert.pem >both.pem
		tool sslsniff -- /usr/bin/python3 "$SRC/test/tools/net.py" ssl 0 "$TMP/both.pem"
		want 7 "$(rows "^[0-9]+ [0-9]+ python3 WRITE 300 [0-9]+ -\$")"
		want 7 "$(rows "^[0-9]+ [0-9]+ python3 READ 300 [0-9]+ -\$")"
		want 0 "$(rows secret)" "text unless asked for"
		tool sslsniff 12 -- /usr/bin/python3 "$SRC/test/tools/net.py" ssl 0 "$TMP/both.pem"
		want 14 "$(rows "^secretsecret\$")" "text"
	fi
fi

if command -v javac >/dev/null; then
	cat >Load.java <<-J
		class Load {
			public static void main(String[] a) throws Exception {
				for (int i = 0; i < 6; i++) System.gc();
				for (int i = 0; i < 4; i++) { Thread t = new Thread(() -> {}, "ours" + i); t.start(); t.join(); }
			}
		}
	J
	javac Load.java
	java=$(readlink -f "$(command -v java)")
	tool javagc -- "$java" -Xint -XX:+UseSerialGC Load
	want 6 "$(rows "^[0-9]+ full [0-9]+\$")"
	want 6 "$(sum 2 '^full [0-9]+$')" "summary"
	tool javathreads -- "$java" -Xint -XX:+UseSerialGC Load
	for i in 0 1 2 3; do
		want 1 "$(rows "^[0-9]+ start [0-9]+ [0-9]+ 0 ours$i\$")"
		want 1 "$(rows "^[0-9]+ stop [0-9]+ [0-9]+ 0 ours$i\$")"
	done
fi

if command -v node >/dev/null; then
	tool nodegc -- "$(command -v node)" --expose-gc -e 'for(let\ i=0;i<9;i++)gc();'
	k=$(sum 1 'collections$') # others may come on top when it starts
	[ "$k" -ge 9 ] || want "at least 9" "$k"
fi

redis=$TMP/redis-server # redis-tools has the server, under another name: it is one program, which looks at what it is called
ln -s "$(command -v redis-check-rdb || echo /nowhere)" "$redis"
if [ -x "$redis" ] && command -v redis-cli >/dev/null; then
	"$redis" --port 0 --unixsocket "$TMP/redis.sock" --save '' --appendonly no --daemonize no --dir "$TMP" >redis.log 2>&1 &
	server=$!
	wait_for 30 eval "redis-cli -s '$TMP/redis.sock' exists x >/dev/null 2>&1"
	rm -f out
	"$DTRACE" -s rediscmds -p $server >out 2>err </dev/null &
	tracer=$!
	what=rediscmds
	wait_for 30 test -s out
	redis-cli -s "$TMP/redis.sock" -r 50 set key value >/dev/null
	redis-cli -s "$TMP/redis.sock" shutdown nosave 2>/dev/null
	wait $server
	wait $tracer
	expect "0 " "$? $(cat err)" rediscmds
	# redis-cli may ask for the documents of commands; shutdown does not return
	k=$(sum 1 'commands$')
	[ "$k" -ge 50 ] || want "at least 50" "$k"
fi
# tool rediscmds

postgres=
for p in /usr/lib/postgresql/*/bin/postgres; do [ -x "$p" ] && postgres=$p; done
if [ -n "$postgres" ] && command -v setpriv >/dev/null; then
	as="setpriv --reuid=nobody --regid=nogroup --clear-groups" # it does not run as root
	mkdir pg
	chmod 755 "$TMP" "$(dirname "$TMP")"
	chown nobody pg
	(cd / && $as env HOME=/ "$(dirname "$postgres")/initdb" -D "$TMP/pg/data" -A trust --no-sync -E UTF8 --locale=C) >initdb 2>&1 ||
		{ echo "initdb fails here: $(tail -n 1 initdb)"; exit; }
	# a single server that reads queries; it is there before it is traced
	mkfifo queries
	(cd / && exec $as "$postgres" --single -D "$TMP/pg/data" postgres <"$TMP/queries" >/dev/null 2>&1) &
	server=$!
	exec 9>queries
	is_server() { [ "$(cat /proc/$server/comm)" = postgres ]; }
	wait_for 30 is_server
	rm -f out
	"$DTRACE" -s pgqueries -p $server >out 2>err </dev/null 9>&- &
	tracer=$!
	what=pgqueries
	wait_for 30 test -s out
	for i in $(seq 40); do echo "select $i"; done >&9
	exec 9>&-
	wait $tracer
	expect "0 " "$? $(cat err)" pgqueries
	for i in 1 40; do want 1 "$(rows "^[0-9]+ [0-9]+ select $i\$")"; done
	want 40 "$(sum 1 'queries$')"
fi
# tool pgqueries
