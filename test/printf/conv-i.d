// %I: the name of a host by its address, else the text. %P: the name of a service by its port, else the number.
// run: -q
BEGIN
{
	printf("[%I] [%20I] [%I]\n", "0.0.0.0.0", "no address", "");
	printf("[%P] [%8P] [%-8P]\n", (uint16_t)0, (uint16_t)54321, (uint16_t)54321);
	exit(0);
}
