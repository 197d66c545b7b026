// quiet in a script is -q: no header, no rows, no notices. setopt() changes it on the way.
#pragma D option quiet
BEGIN
{
	trace(1);
	trace("str");
}

BEGIN
{
	setopt("quiet", "no");
}

BEGIN
{
	trace(2);
	exit(0);
}
