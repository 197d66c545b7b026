// ++ and -- before and after; an unknown variable starts as an int64_t 0.
// run: -q
BEGIN
{
	printf("%d\n", n++);
	printf("%d\n", n);
	printf("%d\n", ++n);
	printf("%d\n", n--);
	printf("%d\n", --n);
	printf("%d\n", self->d++);
	printf("%d\n", ++self->d);
	printf("%d\n", this->q--);
	printf("%d\n", this->q);
	printf("%d\n", a["k"]++);
	printf("%d\n", ++a["k"]);
	exit(0);
}
