// tag: D_IDENT_AMBIG 6
int PIDTYPE_PID;

BEGIN
{
	trace((enum pid_type)0 == PIDTYPE_PID);
}
