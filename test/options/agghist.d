// -x agghist: count() and sum() as bars over their keys; others as usual.
// run: -q -x agghist
BEGIN
{
	@proc["cron"] = sum(6);
	@proc["sh"] = sum(12);
	@proc["idle"] = sum(0);
	@proc["make"] = sum(2);
	@keys[1, "x"] = count();
	@keys[2, "x"] = count();
	@avg["not a bar"] = avg(4);
	@nokeys = count();
	exit(0);
}
