# timeout: 200
# Real servers with clients: redis (its functions) and PostgreSQL (its static probes, its functions, its
# forks). Exact counts.
# needs: root bpf
# uses: redis postgres
. "$SRC/test/lib.bash"
# redis-tools has the server, under another name: it is one program, which looks at what it is called
redis=$TMP/redis-server postgres=
ln -s "$(command -v redis-check-rdb || echo /nowhere)" "$redis"
for p in /usr/lib/postgresql/*/bin/postgres; do [ -x "$p" ] && postgres=$p; done
[ -x "$redis" ] || [ -n "$postgres" ] || skip "neither redis nor postgres is installed"

if [ -x "$redis" ] && command -v redis-cli >/dev/null; then
	sock=$TMP/redis.sock
	"$DTRACE" -q -c "$redis --port 0 --unixsocket $sock --save '' --appendonly no --daemonize no --dir $TMP" -n '
		pid$target:a.out:setCommand:entry { @["set"] = count(); self->in = timestamp; }
		pid$target:a.out:setCommand:return /self->in && timestamp > self->in/ { @["set done"] = count(); self->in = 0; }
		pid$target:a.out:getCommand:entry, pid$target:a.out:getCommand:return { @get[probefunc, probename] = count(); }
		pid$target:a.out:pingCommand:entry { @[ustackdepth > 3 ? "ping, called from main" : "ping"] = count(); }
		' >"$TMP/out" 2>"$TMP/err" </dev/null &
	tracer=$!
	cli() { redis-cli -s "$sock" "$@"; }
	wait_for 30 eval "redis-cli -s '$sock' exists x >/dev/null 2>&1"
	expect OK "$(cli -r 300 set key value | sort -u)"
	expect value "$(cli -r 200 get key | sort -u)"
	# several clients at once
	for i in 1 2 3 4; do cli -r 50 ping >"$TMP/pings.$i" & clients[i]=$!; done
	wait "${clients[@]}"
	expect "200 PONG" "$(cat "$TMP"/pings.* | sort | uniq -c | xargs)"
	cli shutdown nosave 2>/dev/null
	wait $tracer
	expect 0 $? "$(cat "$TMP/err")"
	grep -E '^ ' "$TMP/out" >"$TMP/out.d"
	mv "$TMP/out.d" "$TMP/out"
	expect "getCommand entry 200
getCommand return 200
ping, called from main 200
set 300
set done 300" "$(sorted)" "redis: $(cat "$TMP/err")"
fi

if [ -n "$postgres" ] && command -v setpriv >/dev/null; then
	bin=$(dirname "$postgres")
	as="setpriv --reuid=nobody --regid=nogroup --clear-groups" # it does not run as root
	mkdir "$TMP/pg"
	chmod 755 "$TMP" "$(dirname "$TMP")"
	chown nobody "$TMP/pg"
	(cd / && $as env HOME=/ "$bin/initdb" -D "$TMP/pg/data" -A trust --no-sync -E UTF8 --locale=C) >"$TMP/initdb" 2>&1 ||
		{ echo "initdb fails here: $(tail -n 1 "$TMP/initdb")"; exit $fails; }

	# a single backend: setpriv runs it, so its probes are there from an exec on
	for i in $(seq 40); do echo "select $i"; done >"$TMP/queries"
	cd / || exit 1
	timeout 500 "$DTRACE" -qZ -c "$as $postgres --single -D $TMP/pg/data postgres" -n '
		postgresql$target:::query-start { @[probename, substr(copyinstr(arg0), 0, 6)] = count(); }
		postgresql$target:::query-done, postgresql$target:::query-parse-start { @[probename, ""] = count(); }
		pid$target:postgres:PortalRun:entry, pid$target:postgres:PortalRun:return { @[probefunc, probename] = count(); }
		pid$target:postgres:pg_parse_query:return { @[probefunc, arg1 ? "a list" : "nothing"] = count(); }' \
		<"$TMP/queries" >"$TMP/out" 2>"$TMP/err"
	grep -aE '^  (query|Portal|pg_)' "$TMP/out" >"$TMP/out.d"
	mv "$TMP/out.d" "$TMP/out"
	expect "PortalRun entry 40
PortalRun return 40
pg_parse_query a list 40
query-done 40
query-parse-start 40
query-start select 40" "$(sorted)" "postgres --single: $(cat "$TMP/err")"

	# the server: every client has a process of its own, forked from it
	if [ -x "$bin/psql" ]; then
		mkdir "$TMP/pg/run"
		chown nobody "$TMP/pg/run"
		"$DTRACE" -qZ -x follow -c "$as $postgres -D $TMP/pg/data -k $TMP/pg/run -h '' -c fsync=off" -n '
			postgresql$target:::query-start /strstr(copyinstr(arg0), "mark") != NULL/ { @[probename] = count(); @who[pid] = count(); }
			pid$target:postgres:PortalRun:entry { self->runs++; }
			postgresql$target:::query-done /strstr(copyinstr(arg0), "mark") != NULL/ { @runs = sum(self->runs); self->runs = 0; }
			END { printa("  %s %@d\n", @); printa("  runs %@d\n", @runs); printa("  one %@d\n", @who); }' >"$TMP/out" 2>"$TMP/err" </dev/null &
		tracer=$!
		psql() { env HOME=/ "$bin/psql" -h "$TMP/pg/run" -U nobody -d postgres -XAtq "$@"; }
		wait_for 60 eval "env HOME=/ '$bin/psql' -h '$TMP/pg/run' -U nobody -d postgres -XAtqc 'select 1' >/dev/null 2>&1"
		for i in $(seq 25); do echo "select 'mark', $i;"; done >"$TMP/queries"
		for i in 1 2 3 4; do psql -f "$TMP/queries" >"$TMP/rows.$i" & clients[i]=$!; done
		wait "${clients[@]}"
		expect 100 "$(cat "$TMP"/rows.* | wc -l)"
		kill -INT "$(head -n 1 "$TMP/pg/data/postmaster.pid")" # its own fast shutdown
		wait $tracer
		grep -aE '^  (query|runs|one)' "$TMP/out" >"$TMP/out.d"
		mv "$TMP/out.d" "$TMP/out"
		expect "one 25
one 25
one 25
one 25
query-start 100
runs 100" "$(sorted)" "postgres: $(cat "$TMP/err")"
	fi
fi
exit $fails
