// run: -q
// Memory of alloca() and string functions lasts for the firing: across `if` and across clauses.
BEGIN
{
	this->a = (int *)alloca(16);
	this->a[0] = 1;
	this->a[3] = 4;
	this->p = (char *)strjoin("one", "two");
	if (this->a[0] == 1) {
		this->b = (int *)alloca(16);
		this->b[0] = 100;
		this->s = strjoin("three", "four");
		printf("%d %d %d %s %s\n", this->a[0], this->a[3], this->b[0], this->s,
		    stringof(this->p));
	} else {
		this->b = (int *)alloca(4);
	}
	printf("%d %d %d\n", this->a[0], this->a[3], this->b[0]);
}

BEGIN
{
	this->c = (int *)alloca(64);
	this->c[0] = 7;
	printf("%d %d %d %d %s\n", this->a[0], this->a[3], this->b[0], this->c[0], stringof(this->p));
	this->a[3] = 5;
}

BEGIN
/this->a[3] == 5/
{
	this->t = strjoin("five", "six");
	printf("%d %s %s\n", this->a[3], this->t, stringof(this->p));
	exit(0);
}
