// strtok(): tokens one after another; NULL continues; ends with NULL.
// run: -q
BEGIN
{
	this->a = strtok("one,two;;three", ",;");
	this->b = strtok(NULL, ",;");
	this->c = strtok(NULL, ",;");
	this->d = strtok(NULL, ",;");
	printf("[%s] [%s] [%s] %d\n", this->a, this->b, this->c, this->d == NULL);
	printf("[%s]\n", strtok(",,,lead", ","));
	printf("%d\n", strtok(",,,", ",") == NULL);
	exit(0);
}
