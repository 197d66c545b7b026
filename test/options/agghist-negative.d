// -x agghist with negative sums: bars to both sides, or to the left only.
// run: -q -x agghist
BEGIN
{
	@both["loss"] = sum(-10);
	@both["gain"] = sum(30);
	@neg["loss"] = sum(-10);
	@neg["more"] = sum(-30);
	exit(0);
}
