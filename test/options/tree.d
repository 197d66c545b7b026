// -x tree=1 prints the clauses as they were parsed, 4 after if/else desugaring.
// run: -e -x tree=1
BEGIN
/pid == 1+2*3/
{
	if (x = 1)
		trace(x);
	@a["k"] = count();
}
