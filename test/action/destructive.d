// raise, stop, chill: on the vm engine a signal 0 reaches the tracer itself, stop() does nothing, chill() waits.
// run: -q -w
BEGIN
{
	this->start = timestamp;
	raise(0);
	stop();
	chill(1000000);
	printf("done\n");
	exit(0);
}
