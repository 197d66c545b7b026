// The actions are checked before the predicate, so a clause can test variables that it creates itself.
// run: -q
BEGIN
/seen == 0 && self->mine == 0/
{
	seen = 1;
	self->mine = 1;
	printf("first\n");
}

BEGIN
/seen == 0/
{
	printf("again\n");
}

BEGIN { exit(0); }
