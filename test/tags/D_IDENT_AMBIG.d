// tag: D_IDENT_AMBIG
int PIDTYPE_PID;

BEGIN
{
	trace((enum pid_type)0 == PIDTYPE_PID);
}
