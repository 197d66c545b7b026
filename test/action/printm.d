// printm(): memory that memref() names, as many bytes as it says, but no more than the constant.
// run: -q
BEGIN
{
	this->p = (char *)alloca(16);
	bcopy("ABCDEFGHIJKLMNO", this->p, 16);
	printm(16, memref(this->p, 5));
	printm(4, memref(this->p, 16));
	exit(0);
}
