#!/usr/sbin/dtrace -s
// run: -e -Z
/* Queries of a server with probes of its own. */

myserv*:::query-start
{
	self->query = copyinstr(arg0);
	self->client = arg1;
	self->ts = timestamp;
}

myserv*:::query-done
/self->ts/
{
	@[self->query] = quantize((timestamp - self->ts) / 1000);
	@clients[self->client] = count();
	self->query = 0;
	self->client = 0;
	self->ts = 0;
}
