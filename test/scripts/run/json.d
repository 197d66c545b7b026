#!/usr/sbin/dtrace -s
/* Fields of a JSON text, as log lines have them. */

#pragma D option quiet
#pragma D option strsize=1k

BEGIN
{
	line = "{\"level\": \"warn\", \"req\": {\"method\": \"GET\", \"url\": \"/x\"}, \"times\": [12, 7, 30]}";
	printf("%s %s %s\n", json(line, "level"), json(line, "req.method"), json(line, "req.url"));
	printf("%d\n", strtoll(json(line, "times[0]")) + strtoll(json(line, "times[2]")));
	printf("%s\n", json(line, "nosuch") == NULL ? "absent" : "present");
	exit(0);
}
