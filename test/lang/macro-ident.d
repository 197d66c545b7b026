// An argument that is an identifier can be used wherever a name can.
// run: -q counted printf
int $1;

BEGIN
{
	$1 = 41;
	self->$1 = 1;
	$2("%d\n", counted + self->counted);
	exit(0);
}
